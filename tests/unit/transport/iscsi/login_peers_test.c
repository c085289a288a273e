// SPDX-License-Identifier: BSD-2-Clause
// The logins of the initiators in the field, PDU by PDU, as protocols of theirs show them.
#include "login_util.h"

#define NAMES "InitiatorName=" ME "\0TargetName=" IQN "\0"
#define OPEN_ISCSI                                                                                 \
	"InitiatorName=" ME "\0InitiatorAlias=host\0TargetName=" IQN "\0SessionType=Normal\0"
#define OPEN_ISCSI_KEYS                                                                            \
	"HeaderDigest=None\0DataDigest=None\0DefaultTime2Wait=2\0DefaultTime2Retain=0\0"           \
	"IFMarker=No\0OFMarker=No\0ErrorRecoveryLevel=0\0InitialR2T=No\0ImmediateData=Yes\0"       \
	"MaxBurstLength=16776192\0FirstBurstLength=262144\0MaxOutstandingR2T=1\0"                  \
	"MaxConnections=1\0DataPDUInOrder=Yes\0DataSequenceInOrder=Yes\0"                          \
	"MaxRecvDataSegmentLength=262144"
#define TO_OPEN_ISCSI                                                                              \
	"HeaderDigest=None\0DataDigest=None\0DefaultTime2Wait=2\0DefaultTime2Retain=0\0"           \
	"IFMarker=No\0OFMarker=No\0ErrorRecoveryLevel=0\0InitialR2T=No\0ImmediateData=Yes\0"       \
	"MaxBurstLength=1048576\0FirstBurstLength=262144\0MaxOutstandingR2T=1\0"                   \
	"MaxConnections=1\0DataPDUInOrder=Yes\0DataSequenceInOrder=Yes\0"                          \
	"MaxRecvDataSegmentLength=262144"

static void test_iscsid_without_authentication(void **state)
{
	say(SEC_TO_OP, TEXT(OPEN_ISCSI "AuthMethod=None"));
	expect(LOGIN_CONTINUE, SEC_TO_OP, TEXT("AuthMethod=None\0TargetPortalGroupTag=1"));
	assert_int_equal(get_be32(reply.bhs + 16), 0xabcd0001);
	assert_int_equal(get_be32(reply.bhs + 24), 1000);
	assert_int_equal(get_be16(reply.bhs + 14), 0);
	say(OP_TO_FFP, TEXT(OPEN_ISCSI_KEYS));
	expect(LOGIN_FULL_FEATURE, OP_TO_FFP, TEXT(TO_OPEN_ISCSI));
	assert_int_equal(get_be16(reply.bhs + 14), 0x1234);
	assert_memory_equal(reply.bhs + 8, request + 8, 6);
	assert_int_equal(get_be32(reply.bhs + 24), 1001);
	assert_int_equal(get_be32(reply.bhs + 28), 77);
	assert_int_equal(get_be32(reply.bhs + 32), 77 + 63);
	assert_int_equal(login_stat_sn(&target), 1002);
	assert_string_equal(role.names.initiator_alias, "host");
	const struct iscsi_params *p = login_params(&target);
	assert_int_equal(p->max_burst, 1048576);
	assert_int_equal(p->first_burst, 262144);
	assert_int_equal(p->max_send_data, 262144);
	assert_int_equal(p->max_recv_data, 262144);
	assert_int_equal(p->max_outstanding_r2t, 1);
	assert_false(p->initial_r2t);
	assert_true(p->immediate_data);
}

static void test_iscsid_hears_only_keys_it_knows(void **state)
{
	struct text_iter it;
	struct text_pair pair;
	strcpy(role.terms.target_alias, "shelf 3");
	say(SEC_TO_OP, TEXT(OPEN_ISCSI "AuthMethod=None"));
	expect(LOGIN_CONTINUE, SEC_TO_OP,
	       TEXT("AuthMethod=None\0TargetPortalGroupTag=1\0TargetAlias=shelf 3"));
	say(OP_TO_FFP, TEXT("HeaderDigest=None"));
	assert_int_equal(reply.outcome, LOGIN_FULL_FEATURE);
	text_iter_init(&it, reply.text, reply.text_len);
	while (text_next(&it, &pair) > 0)
		assert_true(text_key_is(&pair, "HeaderDigest") ||
			    text_key_is(&pair, "MaxRecvDataSegmentLength"));
}

static void test_iscsid_discovery(void **state)
{
	say(SEC_TO_OP, TEXT("InitiatorName=" ME "\0InitiatorAlias=host\0SessionType=Discovery\0"
			    "AuthMethod=None"));
	expect(LOGIN_CONTINUE, SEC_TO_OP, TEXT("AuthMethod=None"));
	say(OP_TO_FFP, TEXT("HeaderDigest=None\0DataDigest=None\0DefaultTime2Wait=0\0"
			    "DefaultTime2Retain=0\0IFMarker=No\0OFMarker=No\0ErrorRecoveryLevel=0\0"
			    "MaxRecvDataSegmentLength=32768"));
	expect(LOGIN_FULL_FEATURE, OP_TO_FFP,
	       TEXT("HeaderDigest=None\0DataDigest=None\0DefaultTime2Wait=2\0"
		    "DefaultTime2Retain=0\0IFMarker=No\0OFMarker=No\0ErrorRecoveryLevel=0\0"
		    "MaxRecvDataSegmentLength=262144"));
	assert_true(role.names.is_discovery);
	assert_true(login_params(&target)->is_discovery);
	assert_int_equal(login_params(&target)->max_send_data, 32768);
}

static void test_iscsid_with_mutual_chap(void **state)
{
	char text[1024];
	demand_chap();
	chap_creds_set(&role.terms.target, "tgt", MUTUAL, NULL);
	say(SEC_TO_OP, TEXT(OPEN_ISCSI "AuthMethod=CHAP,None"));
	expect(LOGIN_CONTINUE, SEC, TEXT("AuthMethod=CHAP\0TargetPortalGroupTag=1"));
	say(SEC, TEXT("CHAP_A=5"));
	assert_int_equal(reply.bhs[1], SEC);
	size_t len = chap_reply(CHAP_MD5, "alice", SECRET, text, sizeof text);
	static const char question[] = "CHAP_I=42\0CHAP_C=0x000102030405060708090a0b0c0d0e0f";
	memcpy(text + len, question, sizeof question);
	say(SEC_TO_OP, text, len + sizeof question);
	static const struct chap_challenge asked = {
		.id = 42,
		.len = 16,
		.bytes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	};
	struct chap_creds mutual;
	chap_creds_set(&mutual, "tgt", MUTUAL, NULL);
	char expected[256];
	struct text_out o;
	text_out_init(&o, expected, sizeof expected);
	chap_answer_append(CHAP_MD5, &asked, &mutual, &o);
	expect(LOGIN_CONTINUE, SEC_TO_OP, expected, o.len);
	say(OP_TO_FFP, TEXT(OPEN_ISCSI_KEYS));
	expect(LOGIN_FULL_FEATURE, OP_TO_FFP, TEXT(TO_OPEN_ISCSI));
}

#define LIBISCSI_KEYS                                                                              \
	"HeaderDigest=None,CRC32C\0DataDigest=None\0InitialR2T=No\0ImmediateData=Yes\0"            \
	"MaxBurstLength=262144\0FirstBurstLength=262144\0MaxRecvDataSegmentLength=262144\0"        \
	"DataPDUInOrder=Yes\0DefaultTime2Wait=2\0DefaultTime2Retain=0\0IFMarker=No\0OFMarker=No\0" \
	"MaxConnections=1\0MaxOutstandingR2T=1\0ErrorRecoveryLevel=0\0DataSequenceInOrder=Yes"
#define TO_LIBISCSI                                                                                \
	"HeaderDigest=None\0DataDigest=None\0InitialR2T=No\0ImmediateData=Yes\0"                   \
	"MaxBurstLength=262144\0FirstBurstLength=262144\0DataPDUInOrder=Yes\0DefaultTime2Wait=2\0" \
	"DefaultTime2Retain=0\0IFMarker=No\0OFMarker=No\0MaxConnections=1\0MaxOutstandingR2T=1\0"  \
	"ErrorRecoveryLevel=0\0DataSequenceInOrder=Yes\0MaxRecvDataSegmentLength=262144"
#define LIBISCSI "InitiatorName=" ME "\0TargetName=" IQN "\0SessionType=Normal\0"

static void test_libiscsi_logs_in_with_one_request(void **state)
{
	put_be32(request + 24, 0xfffffff0);
	say(OP_TO_FFP, TEXT(LIBISCSI LIBISCSI_KEYS));
	expect(LOGIN_FULL_FEATURE, OP_TO_FFP, TEXT(TO_LIBISCSI "\0TargetPortalGroupTag=1"));
	assert_int_equal(get_be32(reply.bhs + 28), 0xfffffff0);
	assert_int_equal(get_be32(reply.bhs + 32), 0x2f);
}

static void test_libiscsi_may_say_everything_again(void **state)
{
	say(OP, TEXT(LIBISCSI LIBISCSI_KEYS));
	expect(LOGIN_CONTINUE, OP, TEXT(TO_LIBISCSI "\0TargetPortalGroupTag=1"));
	say(OP_TO_FFP, TEXT(LIBISCSI LIBISCSI_KEYS));
	assert_int_equal(reply.outcome, LOGIN_FULL_FEATURE);
	assert_int_equal(role.admits, 1);
	struct text_pair p;
	assert_int_equal(text_find(reply.text, reply.text_len, "HeaderDigest", &p), 1);
	assert_int_equal(text_find(reply.text, reply.text_len, "TargetPortalGroupTag", &p), 0);
}

static void test_libiscsi_with_chap(void **state)
{
	char text[1024];
	demand_chap();
	say(SEC_TO_OP, TEXT(LIBISCSI "AuthMethod=CHAP,None"));
	expect(LOGIN_CONTINUE, SEC, TEXT("AuthMethod=CHAP\0TargetPortalGroupTag=1"));
	say(SEC, TEXT("CHAP_A=7"));
	struct text_pair p;
	assert_int_equal(text_find(reply.text, reply.text_len, "CHAP_A", &p), 1);
	assert_string_equal(p.value, "7");
	assert_int_equal(text_find(reply.text, reply.text_len, "CHAP_C", &p), 1);
	assert_memory_equal(p.value, "0x", 2);
	size_t len = chap_reply(CHAP_SHA256, "alice", SECRET, text, sizeof text);
	say(SEC_TO_OP, text, len);
	expect(LOGIN_CONTINUE, SEC_TO_OP, NULL, 0);
	say(OP_TO_FFP, TEXT(LIBISCSI_KEYS));
	expect(LOGIN_FULL_FEATURE, OP_TO_FFP, TEXT(TO_LIBISCSI));
}

static void test_qemu_with_both_digests(void **state)
{
	say(OP_TO_FFP, TEXT(LIBISCSI "HeaderDigest=CRC32C,None\0DataDigest=CRC32C,None"));
	expect(LOGIN_FULL_FEATURE, OP_TO_FFP,
	       TEXT("HeaderDigest=CRC32C\0DataDigest=CRC32C\0MaxRecvDataSegmentLength=262144\0"
		    "TargetPortalGroupTag=1"));
	assert_true(role.params.header_digest && role.params.data_digest);
}

#define IPXE_KEYS                                                                                  \
	"HeaderDigest=None\0DataDigest=None\0MaxConnections=1\0InitialR2T=Yes\0ImmediateData=No\0" \
	"MaxRecvDataSegmentLength=8192\0MaxBurstLength=262144\0FirstBurstLength=65536\0"           \
	"DefaultTime2Wait=0\0DefaultTime2Retain=0\0MaxOutstandingR2T=1\0DataPDUInOrder=Yes\0"      \
	"DataSequenceInOrder=Yes\0ErrorRecoveryLevel=0"

static void no_reject(void)
{
	struct text_iter it;
	struct text_pair pair;
	text_iter_init(&it, reply.text, reply.text_len);
	while (text_next(&it, &pair) > 0)
		assert_string_not_equal(pair.value, "Reject");
}

static void test_ipxe_without_authentication(void **state)
{
	say(SEC_TO_OP, TEXT(NAMES "SessionType=Normal\0AuthMethod=None"));
	expect(LOGIN_CONTINUE, SEC_TO_OP, TEXT("AuthMethod=None\0TargetPortalGroupTag=1"));
	say(OP_TO_FFP, TEXT(IPXE_KEYS));
	assert_int_equal(reply.outcome, LOGIN_FULL_FEATURE);
	no_reject();
	assert_true(role.params.initial_r2t);
	assert_false(role.params.immediate_data);
	assert_int_equal(role.params.max_send_data, 8192);
}

static void test_ipxe_with_chap(void **state)
{
	char text[1024];
	demand_chap();
	say(SEC_TO_OP, TEXT(NAMES "SessionType=Normal\0AuthMethod=CHAP,None"));
	assert_int_equal(reply.bhs[1], SEC);
	say(SEC, TEXT("CHAP_A=5"));
	size_t len = chap_reply(CHAP_MD5, "alice", SECRET, text, sizeof text);
	say(SEC_TO_OP, text, len);
	expect(LOGIN_CONTINUE, SEC_TO_OP, NULL, 0);
	say(OP_TO_FFP, TEXT(IPXE_KEYS));
	assert_int_equal(reply.outcome, LOGIN_FULL_FEATURE);
	no_reject();
}

static void test_from_security_straight_to_full_feature(void **state)
{
	say(SEC_TO_FFP, TEXT(NAMES "AuthMethod=None"));
	expect(LOGIN_FULL_FEATURE, SEC_TO_FFP, TEXT("AuthMethod=None\0TargetPortalGroupTag=1"));
	assert_int_equal(role.params.max_recv_data, 8192); // ours was never declared
	assert_int_equal(role.params.max_burst, 262144);
}

static void test_a_text_in_three_pieces(void **state)
{
	say(OP | MORE, "InitiatorName=" ME "\0Targe", sizeof("InitiatorName=" ME) + 5);
	expect(LOGIN_CONTINUE, OP, NULL, 0);
	assert_int_equal(role.admits, 0);
	say(OP | MORE, "tName=" IQN "\0Header", sizeof("tName=" IQN) + 6);
	expect(LOGIN_CONTINUE, OP, NULL, 0);
	say(OP_TO_FFP, TEXT("Digest=None"));
	expect(LOGIN_FULL_FEATURE, OP_TO_FFP,
	       TEXT("HeaderDigest=None\0MaxRecvDataSegmentLength=262144\0TargetPortalGroupTag=1"));
	assert_string_equal(role.names.target_name, IQN);
}

static void test_without_transit_the_stage_stays(void **state)
{
	say(SEC, TEXT(NAMES));
	expect(LOGIN_CONTINUE, SEC, TEXT("TargetPortalGroupTag=1"));
	say(SEC, TEXT("AuthMethod=None"));
	expect(LOGIN_CONTINUE, SEC, TEXT("AuthMethod=None"));
	say(SEC_TO_OP, NULL, 0);
	expect(LOGIN_CONTINUE, SEC_TO_OP, NULL, 0);
	say(OP, NULL, 0);
	expect(LOGIN_CONTINUE, OP, TEXT("MaxRecvDataSegmentLength=262144"));
	say(OP_TO_FFP, NULL, 0);
	expect(LOGIN_FULL_FEATURE, OP_TO_FFP, NULL, 0);
}

static void test_names_are_compared_in_lower_case(void **state)
{
	say(OP_TO_FFP, TEXT("InitiatorName=IQN.1993-08.org.Debian:01:ABC\0TargetName=" IQN));
	assert_int_equal(reply.outcome, LOGIN_FULL_FEATURE);
	assert_string_equal(role.names.initiator_name, ME);
}

static void test_vendor_keys_are_not_understood(void **state)
{
	say(OP_TO_FFP, TEXT(NAMES "X-com.microsoft.x=1\0X#NodeArchitecture=toaster"));
	expect(LOGIN_FULL_FEATURE, OP_TO_FFP,
	       TEXT("X-com.microsoft.x=NotUnderstood\0MaxRecvDataSegmentLength=262144\0"
		    "TargetPortalGroupTag=1"));
}

static void test_a_redirect_names_the_new_address(void **state)
{
	strcpy(role.terms.redirect, "10.0.0.2:3260");
	say(SEC_TO_OP, TEXT(OPEN_ISCSI "AuthMethod=None"));
	expect_refused(ISCSI_LOGIN_MOVED_TEMPORARILY, "10.0.0.2");
	expect_text(TEXT("TargetAddress=10.0.0.2:3260"));
	target_setup(NULL);
	strcpy(role.terms.redirect, "10.0.0.2:3260");
	role.terms.is_redirect_permanent = true;
	say(OP_TO_FFP, TEXT(LIBISCSI LIBISCSI_KEYS));
	expect_refused(ISCSI_LOGIN_MOVED_PERMANENTLY, "10.0.0.2");
}

static void test_attach_may_take_its_time(void **state)
{
	struct login_session s = { .tsih = 9, .exp_cmd_sn = 77, .max_cmd_sn = 80 };
	role.attach_status = -EINPROGRESS;
	assert_int_equal(say(OP_TO_FFP, TEXT(LIBISCSI "InitialR2T=Yes")), LOGIN_WAIT);
	assert_false(reply.has_pdu);
	login_target_resume(&target, 0, &s, NULL, &reply);
	expect(LOGIN_FULL_FEATURE, OP_TO_FFP,
	       TEXT("InitialR2T=Yes\0MaxRecvDataSegmentLength=262144\0TargetPortalGroupTag=1"));
	assert_int_equal(get_be16(reply.bhs + 14), 9);
	assert_int_equal(get_be32(reply.bhs + 32), 80);
}

static void test_attach_may_refuse_later(void **state)
{
	struct err why;
	err_set(&why, -EBUSY, "the old session does not end");
	role.attach_status = -EINPROGRESS;
	say(OP_TO_FFP, TEXT(LIBISCSI));
	login_target_resume(&target, ISCSI_LOGIN_OUT_OF_RESOURCES, NULL, &why, &reply);
	expect_refused(ISCSI_LOGIN_OUT_OF_RESOURCES, "does not end");
}

static void test_a_pdu_while_waiting_ends_the_login(void **state)
{
	role.attach_status = -EINPROGRESS;
	say(OP_TO_FFP, TEXT(LIBISCSI));
	assert_int_equal(say(OP_TO_FFP, NULL, 0), LOGIN_DROP);
	assert_false(reply.has_pdu);
	struct login_session s = { .tsih = 9 };
	assert_int_equal(login_target_resume(&target, 0, &s, NULL, &reply), LOGIN_DROP);
}

static void test_a_further_connection_keeps_the_sessions_keys(void **state)
{
	put_be16(request + 14, 0x1234);
	put_be16(request + 20, 1);
	say(OP_TO_FFP, TEXT(NAMES "HeaderDigest=None\0MaxBurstLength=512"));
	expect(LOGIN_FULL_FEATURE, OP_TO_FFP,
	       TEXT("HeaderDigest=None\0MaxBurstLength=Irrelevant\0MaxRecvDataSegmentLength="
		    "262144\0"
		    "TargetPortalGroupTag=1"));
	assert_int_equal(role.names.tsih, 0x1234);
	assert_int_equal(role.names.cid, 1);
}

static void test_over_rdma_no_tcp_key_is_declared(void **state)
{
	role.terms.offer.is_rdma = true;
	say(OP_TO_FFP, TEXT(NAMES "RDMAExtensions=Yes\0InitiatorRecvDataSegmentLength=4096\0"
				  "TargetRecvDataSegmentLength=4096"));
	expect(LOGIN_FULL_FEATURE, OP_TO_FFP,
	       TEXT("RDMAExtensions=Yes\0InitiatorRecvDataSegmentLength=4096\0"
		    "TargetRecvDataSegmentLength=4096\0TargetPortalGroupTag=1"));
	assert_int_equal(role.params.max_send_data, 128);
}

static void test_secrets_are_wiped_at_the_end(void **state)
{
	char text[1024];
	demand_chap();
	say(SEC_TO_OP, TEXT(LIBISCSI "AuthMethod=CHAP"));
	say(SEC, TEXT("CHAP_A=5"));
	size_t len = chap_reply(CHAP_MD5, "alice", SECRET, text, sizeof text);
	say(SEC_TO_FFP, text, len);
	assert_int_equal(reply.outcome, LOGIN_FULL_FEATURE);
	assert_null(memmem(&target, sizeof target, SECRET, sizeof SECRET - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_iscsid_without_authentication, target_setup),
		cmocka_unit_test_setup(test_iscsid_hears_only_keys_it_knows, target_setup),
		cmocka_unit_test_setup(test_iscsid_discovery, target_setup),
		cmocka_unit_test_setup(test_iscsid_with_mutual_chap, target_setup),
		cmocka_unit_test_setup(test_libiscsi_logs_in_with_one_request, target_setup),
		cmocka_unit_test_setup(test_libiscsi_may_say_everything_again, target_setup),
		cmocka_unit_test_setup(test_libiscsi_with_chap, target_setup),
		cmocka_unit_test_setup(test_qemu_with_both_digests, target_setup),
		cmocka_unit_test_setup(test_ipxe_without_authentication, target_setup),
		cmocka_unit_test_setup(test_ipxe_with_chap, target_setup),
		cmocka_unit_test_setup(test_from_security_straight_to_full_feature, target_setup),
		cmocka_unit_test_setup(test_a_text_in_three_pieces, target_setup),
		cmocka_unit_test_setup(test_without_transit_the_stage_stays, target_setup),
		cmocka_unit_test_setup(test_names_are_compared_in_lower_case, target_setup),
		cmocka_unit_test_setup(test_vendor_keys_are_not_understood, target_setup),
		cmocka_unit_test_setup(test_a_redirect_names_the_new_address, target_setup),
		cmocka_unit_test_setup(test_attach_may_take_its_time, target_setup),
		cmocka_unit_test_setup(test_attach_may_refuse_later, target_setup),
		cmocka_unit_test_setup(test_a_pdu_while_waiting_ends_the_login, target_setup),
		cmocka_unit_test_setup(test_a_further_connection_keeps_the_sessions_keys,
				       target_setup),
		cmocka_unit_test_setup(test_over_rdma_no_tcp_key_is_declared, target_setup),
		cmocka_unit_test_setup(test_secrets_are_wiped_at_the_end, target_setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
