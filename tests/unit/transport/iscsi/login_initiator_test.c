// SPDX-License-Identifier: BSD-2-Clause
// The initiator's login against targets as they are in the field, and against hostile ones;
// then against our own target in every combination of digests, CHAP and discovery.
#include "login_util.h"

static struct login initiator;
static struct login_config config;
static struct login_reply out;
static struct err e;

static int setup(void **state)
{
	target_setup(NULL);
	memset(&config, 0, sizeof config);
	strcpy(config.initiator_name, ME);
	strcpy(config.target_name, IQN);
	memcpy(config.isid, "\x80\x01\x02\x03\x04\x05", 6);
	config.itt = 7;
	config.cmd_sn = 100;
	config.chap_algs = CHAP_ALGS_ALL;
	iscsi_offer_init(&config.offer);
	return 0;
}

static void start(void)
{
	if (login_initiator_init(&initiator, &config, &e))
		fail_msg("%s", e.text);
	assert_int_equal(login_initiator_start(&initiator, &out), LOGIN_CONTINUE);
}

static void start_chap(bool is_mutual)
{
	chap_creds_set(&config.initiator, "alice", SECRET, NULL);
	if (is_mutual)
		chap_creds_set(&config.target, "tgt", MUTUAL, NULL);
	start();
}

static uint8_t response[ISCSI_BHS_LEN];

static void respond_raw(uint16_t status, uint8_t flags, const char *text, size_t len)
{
	char *copy = calloc(1, len ? len : 1);
	if (len)
		memcpy(copy, text, len);
	response[1] = flags;
	put_be24(response + 5, (uint32_t)len);
	put_be16(response + 36, status);
	login_initiator_step(&initiator, response, copy, len, &out);
	free(copy);
}

static void respond(uint8_t flags, const char *text, size_t len)
{
	memset(response, 0, sizeof response);
	response[0] = ISCSI_OP_LOGIN_RSP;
	put_be16(response + 14, 0x77);
	put_be32(response + 16, 7);
	put_be32(response + 24, 500);
	put_be32(response + 28, 100);
	put_be32(response + 32, 131);
	respond_raw(0, flags, text, len);
}

static void expect_request(uint8_t flags, const char *text, size_t len)
{
	if (out.outcome != LOGIN_CONTINUE)
		print_message("%s\n", out.err.text);
	assert_int_equal(out.outcome, LOGIN_CONTINUE);
	assert_true(out.has_pdu);
	assert_int_equal(out.bhs[0], 0x43);
	assert_int_equal(out.bhs[1], flags);
	assert_int_equal(get_be24(out.bhs + 5), len);
	assert_int_equal(out.text_len, len);
	assert_memory_equal(out.text, text, len);
}

static void expect_failed(const char *hint)
{
	assert_int_equal(out.outcome, LOGIN_FAILED);
	assert_false(out.has_pdu);
	if (!strstr(out.err.text, hint))
		print_message("%s\n", out.err.text);
	assert_non_null(strstr(out.err.text, hint));
}

#define OUR_KEYS                                                                                   \
	"HeaderDigest=None,CRC32C\0DataDigest=None,CRC32C\0MaxConnections=1\0InitialR2T=No\0"      \
	"ImmediateData=Yes\0MaxRecvDataSegmentLength=262144\0MaxBurstLength=1048576\0"             \
	"FirstBurstLength=262144\0DefaultTime2Wait=2\0DefaultTime2Retain=0\0MaxOutstandingR2T=8\0" \
	"DataPDUInOrder=Yes\0DataSequenceInOrder=Yes\0ErrorRecoveryLevel=0"
#define OUR_NAMES "InitiatorName=" ME "\0SessionType=Normal\0TargetName=" IQN "\0"
#define LIO_ANSWERS                                                                                \
	"TargetAlias=LIO Target\0TargetPortalGroupTag=1\0HeaderDigest=CRC32C\0DataDigest=None\0"   \
	"MaxConnections=1\0InitialR2T=Yes\0ImmediateData=Yes\0MaxBurstLength=262144\0"             \
	"FirstBurstLength=65536\0DefaultTime2Wait=2\0DefaultTime2Retain=0\0MaxOutstandingR2T=1\0"  \
	"DataPDUInOrder=Yes\0DataSequenceInOrder=Yes\0ErrorRecoveryLevel=0"

static void test_everything_is_said_once_in_one_request(void **state)
{
	start();
	expect_request(OP_TO_FFP, TEXT(OUR_NAMES OUR_KEYS));
	assert_memory_equal(out.bhs + 8, config.isid, 6);
	assert_int_equal(get_be32(out.bhs + 24), 100);
}

static void test_lio_without_authentication(void **state)
{
	start();
	respond(OP_TO_FFP, TEXT(LIO_ANSWERS "\0MaxRecvDataSegmentLength=65536"));
	assert_int_equal(out.outcome, LOGIN_FULL_FEATURE);
	assert_false(out.has_pdu);
	const struct iscsi_params *p = login_params(&initiator);
	assert_true(p->header_digest);
	assert_false(p->data_digest);
	assert_true(p->initial_r2t);
	assert_int_equal(p->max_burst, 262144);
	assert_int_equal(p->first_burst, 65536);
	assert_int_equal(p->max_send_data, 65536);
	assert_int_equal(p->max_recv_data, 262144);
	assert_int_equal(p->max_outstanding_r2t, 1);
	assert_string_equal(login_target_alias(&initiator), "LIO Target");
	assert_int_equal(login_tpgt(&initiator), 1);
	assert_int_equal(login_session(&initiator)->tsih, 0x77);
	assert_int_equal(login_session(&initiator)->max_cmd_sn, 131);
	assert_int_equal(login_stat_sn(&initiator), 501);
}

static void test_lio_proposals_are_answered(void **state)
{
	start();
	respond(OP,
		TEXT(LIO_ANSWERS "\0MaxRecvDataSegmentLength=65536\0IFMarker=No\0OFMarkInt=2048\0"
				 "TaskReporting=FastAbort,RFC3720\0X-lio=1"));
	expect_request(OP_TO_FFP, TEXT("X-lio=NotUnderstood\0IFMarker=No\0OFMarkInt=Reject\0"
				       "TaskReporting=RFC3720"));
	respond(OP_TO_FFP, NULL, 0);
	assert_int_equal(out.outcome, LOGIN_FULL_FEATURE);
}

static void test_a_target_that_declares_nothing_gets_8192(void **state)
{
	start();
	respond(OP_TO_FFP, TEXT(LIO_ANSWERS));
	assert_int_equal(login_params(&initiator)->max_send_data, 8192);
}

static void test_keys_left_unanswered_are_the_standards(void **state)
{
	start();
	respond(OP_TO_FFP, TEXT("TargetPortalGroupTag=1"));
	assert_int_equal(out.outcome, LOGIN_FULL_FEATURE);
	const struct iscsi_params *p = login_params(&initiator);
	assert_int_equal(p->max_burst, 262144);
	assert_int_equal(p->first_burst, 65536);
	assert_true(p->initial_r2t);
	assert_false(p->header_digest);
}

static void test_answers_in_two_pieces(void **state)
{
	start();
	respond(OP | MORE, "HeaderDigest=No", 15);
	expect_request(OP, NULL, 0);
	respond(OP, TEXT("ne"));
	expect_request(OP_TO_FFP, NULL, 0);
	respond(OP_TO_FFP, NULL, 0);
	assert_int_equal(out.outcome, LOGIN_FULL_FEATURE);
}

static void test_a_redirect_is_handed_up(void **state)
{
	start();
	respond(OP, NULL, 0);
	respond_raw(ISCSI_LOGIN_MOVED_TEMPORARILY, OP, TEXT("TargetAddress=[fe80::1]:3261"));
	assert_int_equal(out.outcome, LOGIN_REDIRECT);
	assert_int_equal(out.status, ISCSI_LOGIN_MOVED_TEMPORARILY);
	assert_string_equal(login_redirect(&initiator), "[fe80::1]:3261");
}

static void test_redirects_to_nowhere(void **state)
{
	static const char *const bad[] = { "TargetAddress=", "TargetAddress=a b", "X=1" };
	for (size_t i = 0; i < 3; i++) {
		start();
		respond(OP, NULL, 0);
		respond_raw(ISCSI_LOGIN_MOVED_PERMANENTLY, OP, bad[i], strlen(bad[i]) + 1);
		expect_failed("valid TargetAddress");
	}
}

static void test_a_refusal_is_told_in_words(void **state)
{
	start();
	respond(OP, NULL, 0);
	respond_raw(ISCSI_LOGIN_FORBIDDEN, 0, NULL, 0);
	expect_failed("0202 initiator not allowed");
	assert_int_equal(out.status, ISCSI_LOGIN_FORBIDDEN);
}

static void hostile(uint8_t flags, const char *text, size_t len, const char *hint)
{
	start();
	respond(flags, text, len);
	expect_failed(hint);
}

static void test_hostile_operational_answers(void **state)
{
	hostile(OP_TO_FFP, TEXT("MaxBurstLength=16777215"), "MaxBurstLength");
	hostile(OP_TO_FFP, TEXT("ImmediateData=No\0ImmediateData=No"), "twice");
	hostile(OP_TO_FFP, TEXT("HeaderDigest=Y-md5"), "HeaderDigest");
	hostile(OP_TO_FFP, TEXT("MaxRecvDataSegmentLength=0"), "MaxRecvDataSegmentLength");
	hostile(OP_TO_FFP, TEXT("MaxConnections=4"), "MaxConnections");
	hostile(OP_TO_FFP, TEXT("TargetPortalGroupTag=65536"), "TargetPortalGroupTag");
	hostile(OP_TO_FFP, TEXT("InitiatorName=me"), "InitiatorName");
	hostile(OP_TO_FFP, TEXT("AuthMethod=None"), "AuthMethod");
	hostile(OP_TO_FFP, TEXT("TaskReporting=FastAbort"), "last response");
	hostile(OP_TO_FFP, "A=1", 3, "not a list");
	hostile(OP | MORE | 0x80, TEXT("A=1"), "T and C");
	hostile(SEC, NULL, 0, "stage 0");
	hostile(0x86, NULL, 0, "stage 2");
}

static void test_hostile_headers(void **state)
{
	static const struct {
		int at;
		uint8_t value;
		const char *hint;
	} rows[] = {
		{0,   ISCSI_OP_NOP_IN, "NOP-In"	       },
		{ 3,  1,		"version"	  },
		{ 4,  1,		"AHS"	      },
		{ 19, 8,		 "another request"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		start();
		respond(OP, NULL, 0);
		response[rows[i].at] = rows[i].value;
		respond_raw(0, OP_TO_FFP, NULL, 0);
		expect_failed(rows[i].hint);
	}
}

static void test_an_answer_repeated_later_is_fatal(void **state)
{
	start();
	respond(OP, TEXT("ImmediateData=Yes"));
	respond(OP, TEXT("ImmediateData=Yes"));
	expect_failed("twice");
}

static void test_a_target_without_end(void **state)
{
	start();
	for (int i = 0; i < LOGIN_EXCHANGES_MAX; i++) {
		respond(OP, NULL, 0);
		assert_int_equal(out.outcome, LOGIN_CONTINUE);
	}
	respond(OP, NULL, 0);
	expect_failed("too many responses");
	respond(OP, NULL, 0);
	expect_failed("instead");
}

static void test_transit_nobody_asked_for(void **state)
{
	start_chap(false);
	respond(SEC, TEXT("AuthMethod=CHAP"));
	expect_request(SEC, TEXT("CHAP_A=8,7,6,5"));
	respond(SEC_TO_OP, TEXT("CHAP_A=5\0CHAP_I=1\0CHAP_C=0x00"));
	expect_failed("unrequested");
}

static void test_security_answers_that_fail(void **state)
{
	static const struct {
		const char *text, *hint;
	} rows[] = {
		{"AuthMethod=KRB5",	     "KRB5"		    },
		{ "AuthMethod=Reject",      "Reject"		},
		{ "TargetPortalGroupTag=1", "no answer"	},
		{ "CHAP_A=5",		      "before AuthMethod"},
		{ "HeaderDigest=None",      "HeaderDigest"     },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		setup(NULL);
		start_chap(false);
		respond(SEC, rows[i].text, strlen(rows[i].text) + 1);
		expect_failed(rows[i].hint);
	}
}

static void test_challenges_that_fail(void **state)
{
	static const char *const texts[] = {
		"CHAP_A=9%CHAP_I=1%CHAP_C=0x00",
		"CHAP_A=5,6%CHAP_I=1%CHAP_C=0x00",
		"CHAP_A=5%CHAP_I=1",
		"CHAP_A=5%CHAP_C=0x00",
		"CHAP_I=1%CHAP_C=0x00",
		"CHAP_A=5%CHAP_I=256%CHAP_C=0x00",
		"CHAP_A=5%CHAP_I=1%CHAP_C=0x",
		"CHAP_A=5%CHAP_I=1%CHAP_C=zz",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		char text[64] = "";
		strcpy(text, texts[i]);
		for (char *c = text; (c = strchr(c, '%'));)
			*c = 0;
		setup(NULL);
		start_chap(false);
		respond(SEC, TEXT("AuthMethod=CHAP"));
		respond(SEC, text, strlen(texts[i]) + 1);
		expect_failed("CHAP");
	}
}

static void test_mutual_is_enforced(void **state)
{
	static const char *const none[] = { "AuthMethod=None", "TargetPortalGroupTag=1" };
	for (size_t i = 0; i < 2; i++) {
		setup(NULL);
		start_chap(true);
		assert_memory_equal(out.text + out.text_len - 16, "AuthMethod=CHAP", 16);
		respond(SEC_TO_OP, none[i], strlen(none[i]) + 1);
		expect_failed("authenticate itself");
	}
	setup(NULL);
	start_chap(true);
	respond(SEC, TEXT("AuthMethod=CHAP"));
	respond(SEC, TEXT("CHAP_A=5\0CHAP_I=1\0CHAP_C=0x00"));
	assert_int_equal(out.bhs[1], SEC_TO_OP);
	respond(SEC_TO_OP, NULL, 0);
	expect_failed("did not authenticate itself");
}

static void test_a_target_that_answers_with_our_own_secret_is_refused(void **state)
{
	char text[512];
	start_chap(true);
	respond(SEC, TEXT("AuthMethod=CHAP"));
	respond(SEC, TEXT("CHAP_A=5\0CHAP_I=1\0CHAP_C=0x00"));
	reply = out;
	size_t len = chap_reply(CHAP_MD5, "tgt", SECRET, text, sizeof text);
	respond(SEC_TO_OP, text, len);
	expect_failed("reflection");
}

static void test_a_target_with_the_wrong_secret_is_refused(void **state)
{
	char text[512];
	start_chap(true);
	respond(SEC, TEXT("AuthMethod=CHAP"));
	respond(SEC, TEXT("CHAP_A=5\0CHAP_I=1\0CHAP_C=0x00"));
	reply = out;
	size_t len = chap_reply(CHAP_MD5, "tgt", "something-else-16", text, sizeof text);
	respond(SEC_TO_OP, text, len);
	expect_failed("wrong secret");
}

static void test_bad_configurations(void **state)
{
	strcpy(config.initiator_name, "a b");
	assert_int_equal(login_initiator_init(&initiator, &config, &e), -EINVAL);
	setup(NULL);
	config.target_name[0] = 0;
	assert_int_equal(login_initiator_init(&initiator, &config, &e), -EINVAL);
	setup(NULL);
	chap_creds_set(&config.target, "t", MUTUAL, NULL);
	assert_int_equal(login_initiator_init(&initiator, &config, &e), -EINVAL);
	chap_creds_set(&config.initiator, "i", MUTUAL, NULL);
	assert_int_equal(login_initiator_init(&initiator, &config, &e), -EINVAL);
	assert_non_null(strstr(e.text, "must differ"));
	chap_creds_set(&config.initiator, "i", SECRET, NULL);
	config.chap_algs = 0;
	assert_int_equal(login_initiator_init(&initiator, &config, &e), -EINVAL);
}

// ---- both engines against each other ----

// Runs the login to its end; returns the number of requests.
static int loop(void)
{
	start();
	for (int n = 1; n < 20; n++) {
		char text[ISCSI_LOGIN_DATA_MAX];
		memcpy(text, out.text, out.text_len);
		login_target_step(&target, out.bhs, text, out.text_len, &reply);
		assert_true(reply.has_pdu);
		login_initiator_step(&initiator, reply.bhs, reply.text, reply.text_len, &out);
		if (out.outcome != LOGIN_CONTINUE)
			return n;
	}
	fail_msg("the login does not end");
	return 0;
}

static void expect_agreement(void)
{
	if (out.outcome != LOGIN_FULL_FEATURE)
		print_message("%s / %s\n", reply.err.text, out.err.text);
	assert_int_equal(reply.outcome, LOGIN_FULL_FEATURE);
	assert_int_equal(out.outcome, LOGIN_FULL_FEATURE);
	struct iscsi_params t = *login_params(&target), i = *login_params(&initiator);
	assert_int_equal(t.max_recv_data, i.max_send_data);
	// Over RDMA a target holds back: what initiators declare is often more than they take.
	assert_int_equal(t.max_send_data, config.offer.is_rdma ? 128 : i.max_recv_data);
	t.max_recv_data = i.max_recv_data;
	t.max_send_data = i.max_send_data;
	assert_memory_equal(&t, &i, sizeof t);
	assert_int_equal(login_stat_sn(&target), login_stat_sn(&initiator));
	assert_int_equal(login_session(&initiator)->tsih, 0x1234);
}

static void test_loop_every_digest_combination(void **state)
{
	static const char *const lists[] = { "None", "CRC32C", "CRC32C,None", "None,CRC32C" };
	for (int c = 0; c < 256; c++) {
		const char *ih = lists[c & 3], *id = lists[c >> 2 & 3], *th = lists[c >> 4 & 3],
			   *td = lists[c >> 6];
		setup(NULL);
		iscsi_offer_set(&config.offer, "HeaderDigest", ih, NULL);
		iscsi_offer_set(&config.offer, "DataDigest", id, NULL);
		iscsi_offer_set(&role.terms.offer, "HeaderDigest", th, NULL);
		iscsi_offer_set(&role.terms.offer, "DataDigest", td, NULL);
		loop();
		bool can = (strchr(ih, ',') || strchr(th, ',') || ih == th) &&
			   (strchr(id, ',') || strchr(td, ',') || id == td);
		if (!can) {
			assert_int_equal(out.outcome, LOGIN_FAILED);
			continue;
		}
		expect_agreement();
		bool is_crc = strcmp(th, "None") && *ih == 'C';
		assert_int_equal(login_params(&target)->header_digest,
				 is_crc || !strcmp(th, "CRC32C"));
	}
}

static void test_loop_every_chap_combination(void **state)
{
	for (unsigned alg = CHAP_MD5; alg <= CHAP_SHA3_256; alg++) {
		for (int c = 0; c < 8; c++) {
			bool is_mutual = c & 1, is_discovery = c & 2, is_required = c & 4;
			setup(NULL);
			demand_chap();
			role.terms.is_auth_required = is_required;
			chap_creds_set(&role.terms.target, "tgt", MUTUAL, NULL);
			role.terms.chap_algs = CHAP_BIT(alg);
			config.is_discovery = is_discovery;
			if (is_discovery)
				config.target_name[0] = 0;
			chap_creds_set(&config.initiator, "alice", SECRET, NULL);
			if (is_mutual)
				chap_creds_set(&config.target, "tgt", MUTUAL, NULL);
			assert_int_equal(loop(), 4);
			expect_agreement();
			assert_int_equal(role.names.is_discovery, is_discovery);
		}
	}
}

static void test_loop_discovery(void **state)
{
	config.is_discovery = true;
	config.target_name[0] = 0;
	assert_int_equal(loop(), 1);
	expect_agreement();
	assert_int_equal(login_tpgt(&initiator), -1);
}

static void test_loop_credentials_a_target_has_no_use_for(void **state)
{
	chap_creds_set(&config.initiator, "alice", SECRET, NULL);
	assert_int_equal(loop(), 2);
	expect_agreement();
}

static void test_loop_wrong_secrets(void **state)
{
	demand_chap();
	chap_creds_set(&config.initiator, "alice", "not-the-secret", NULL);
	loop();
	assert_int_equal(out.status, ISCSI_LOGIN_AUTH_FAILED);
	assert_int_equal(role.attaches, 0);
	setup(NULL);
	demand_chap();
	chap_creds_set(&role.terms.target, "tgt", "not-the-secret", NULL);
	chap_creds_set(&config.initiator, "alice", SECRET, NULL);
	chap_creds_set(&config.target, "tgt", MUTUAL, NULL);
	loop();
	expect_failed("wrong secret");
}

static void test_loop_without_credentials(void **state)
{
	demand_chap();
	assert_int_equal(loop(), 1);
	assert_int_equal(out.status, ISCSI_LOGIN_AUTH_FAILED);
}

static void test_loop_redirect(void **state)
{
	strcpy(role.terms.redirect, "host.example:3260");
	loop();
	assert_int_equal(out.outcome, LOGIN_REDIRECT);
	assert_string_equal(login_redirect(&initiator), "host.example:3260");
}

static void test_loop_smallest_values(void **state)
{
	static const char *const keys[] = { "MaxBurstLength", "FirstBurstLength",
					    "MaxRecvDataSegmentLength" };
	for (int i = 0; i < 3; i++)
		iscsi_offer_set(&config.offer, keys[i], "512", NULL);
	iscsi_offer_set(&config.offer, "InitialR2T", "Yes", NULL);
	iscsi_offer_set(&config.offer, "ImmediateData", "No", NULL);
	loop();
	expect_agreement();
	assert_int_equal(login_params(&target)->max_burst, 512);
	assert_int_equal(login_params(&target)->first_burst, 512);
	assert_int_equal(login_params(&target)->max_send_data, 512);
}

static void test_loop_over_rdma(void **state)
{
	config.offer.is_rdma = role.terms.offer.is_rdma = true;
	loop();
	expect_agreement();
	assert_true(login_params(&target)->rdma_extensions);
	assert_false(login_params(&target)->header_digest);
	assert_int_equal(login_params(&target)->max_recv_data, 8192);
}

static void test_loop_protocol_level_2(void **state)
{
	iscsi_offer_set(&config.offer, "iSCSIProtocolLevel", "2", NULL);
	iscsi_offer_set(&role.terms.offer, "iSCSIProtocolLevel", "2", NULL);
	iscsi_offer_set(&config.offer, "TaskReporting", "FastAbort,RFC3720", NULL);
	iscsi_offer_set(&role.terms.offer, "TaskReporting", "RFC3720,FastAbort", NULL);
	loop();
	expect_agreement();
	assert_int_equal(login_params(&target)->protocol_level, 2);
	assert_int_equal(login_params(&target)->task_reporting, ISCSI_TASK_REPORTING_FAST_ABORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_everything_is_said_once_in_one_request, setup),
		cmocka_unit_test_setup(test_lio_without_authentication, setup),
		cmocka_unit_test_setup(test_lio_proposals_are_answered, setup),
		cmocka_unit_test_setup(test_a_target_that_declares_nothing_gets_8192, setup),
		cmocka_unit_test_setup(test_keys_left_unanswered_are_the_standards, setup),
		cmocka_unit_test_setup(test_answers_in_two_pieces, setup),
		cmocka_unit_test_setup(test_a_redirect_is_handed_up, setup),
		cmocka_unit_test_setup(test_redirects_to_nowhere, setup),
		cmocka_unit_test_setup(test_a_refusal_is_told_in_words, setup),
		cmocka_unit_test_setup(test_hostile_operational_answers, setup),
		cmocka_unit_test_setup(test_hostile_headers, setup),
		cmocka_unit_test_setup(test_an_answer_repeated_later_is_fatal, setup),
		cmocka_unit_test_setup(test_a_target_without_end, setup),
		cmocka_unit_test_setup(test_transit_nobody_asked_for, setup),
		cmocka_unit_test_setup(test_security_answers_that_fail, setup),
		cmocka_unit_test_setup(test_challenges_that_fail, setup),
		cmocka_unit_test_setup(test_mutual_is_enforced, setup),
		cmocka_unit_test_setup(test_a_target_that_answers_with_our_own_secret_is_refused,
				       setup),
		cmocka_unit_test_setup(test_a_target_with_the_wrong_secret_is_refused, setup),
		cmocka_unit_test_setup(test_bad_configurations, setup),
		cmocka_unit_test_setup(test_loop_every_digest_combination, setup),
		cmocka_unit_test_setup(test_loop_every_chap_combination, setup),
		cmocka_unit_test_setup(test_loop_discovery, setup),
		cmocka_unit_test_setup(test_loop_credentials_a_target_has_no_use_for, setup),
		cmocka_unit_test_setup(test_loop_wrong_secrets, setup),
		cmocka_unit_test_setup(test_loop_without_credentials, setup),
		cmocka_unit_test_setup(test_loop_redirect, setup),
		cmocka_unit_test_setup(test_loop_smallest_values, setup),
		cmocka_unit_test_setup(test_loop_over_rdma, setup),
		cmocka_unit_test_setup(test_loop_protocol_level_2, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
