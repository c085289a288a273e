// SPDX-License-Identifier: BSD-2-Clause
// Every way a login is refused, with its status and a reason a person can act on.
#include "login_util.h"

#define NAMES "InitiatorName=" ME "\0TargetName=" IQN "\0SessionType=Normal\0"

static void test_the_first_pdu_must_be_a_login(void **state)
{
	request[0] = ISCSI_OP_SCSI_CMD;
	assert_int_equal(say(0x80, NULL, 0), LOGIN_DROP);
	assert_false(reply.has_pdu);
	assert_non_null(strstr(reply.err.text, "SCSI Command"));
	request[0] = 0x43;
	assert_int_equal(say(OP_TO_FFP, TEXT(NAMES)), LOGIN_DROP); // nothing revives it
}

static void test_020b_another_opcode_later(void **state)
{
	say(SEC, TEXT(NAMES));
	request[0] = 0x40;
	say(0x80, NULL, 0);
	expect_refused(ISCSI_LOGIN_INVALID_REQUEST, "NOP-Out");
}

static void test_0205_version(void **state)
{
	request[2] = request[3] = 1;
	say(OP_TO_FFP, TEXT(NAMES));
	expect_refused(ISCSI_LOGIN_VERSION, "version");
}

static void test_0200_headers(void **state)
{
	static const struct {
		int at;
		uint8_t value, flags;
		const char *hint;
	} rows[] = {
		{4,  1,	OP_TO_FFP, "additional header"},
		{ 0, 0x43, 0x82,	 "transit"	   }, // to stage 2
		{ 0, 0x43, 0x85,	 "transit"	   }, // from 1 to 1
		{ 0, 0x43, 0x84,	 "transit"	   }, // from 1 to 0
		{ 0, 0x43, 0x80,	 "transit"	   },
		{ 0, 0x43, 0x08,	 "stage 2"	   },
		{ 0, 0x43, 0x0c,	 "stage 3"	   },
		{ 0, 0x43, 0xc7,	 "T and C"	   },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		target_setup(NULL);
		request[rows[i].at] = rows[i].value;
		say(rows[i].flags, TEXT(NAMES));
		expect_refused(ISCSI_LOGIN_INITIATOR_ERROR, rows[i].hint);
	}
	target_setup(NULL);
	put_be32(request + 16, ISCSI_TAG_NONE);
	say(OP_TO_FFP, TEXT(NAMES));
	expect_refused(ISCSI_LOGIN_INITIATOR_ERROR, "task tag");
}

static void test_0200_what_must_not_change(void **state)
{
	static const int at[] = { 8, 13, 15, 21 };
	for (size_t i = 0; i < 4; i++) {
		target_setup(NULL);
		say(SEC, TEXT(NAMES));
		request[at[i]] ^= 1;
		say(SEC, NULL, 0);
		expect_refused(ISCSI_LOGIN_INITIATOR_ERROR, "changed");
	}
	target_setup(NULL);
	say(SEC, TEXT(NAMES));
	say(OP, NULL, 0);
	expect_refused(ISCSI_LOGIN_INITIATOR_ERROR, "stage 1");
}

static void test_0200_names_that_change(void **state)
{
	static const char *const texts[] = { "InitiatorName=iqn.x", "TargetName=iqn.x",
					     "SessionType=Discovery" };
	for (size_t i = 0; i < 3; i++) {
		target_setup(NULL);
		say(SEC, TEXT(NAMES));
		say(SEC, texts[i], strlen(texts[i]) + 1);
		expect_refused(ISCSI_LOGIN_INITIATOR_ERROR, "changed");
	}
}

static void refused_first(uint16_t status, const char *hint, const char *text, size_t len)
{
	target_setup(NULL);
	say(OP_TO_FFP, text, len);
	expect_refused(status, hint);
	assert_int_equal(role.attaches, 0);
}

static void test_0207_missing_names(void **state)
{
	refused_first(ISCSI_LOGIN_MISSING_PARAMETER, "InitiatorName", TEXT("TargetName=" IQN));
	refused_first(ISCSI_LOGIN_MISSING_PARAMETER, "TargetName", TEXT("InitiatorName=" ME));
	refused_first(ISCSI_LOGIN_MISSING_PARAMETER, "InitiatorName", NULL, 0);
	assert_int_equal(role.admits, 0);
}

static void test_bad_names(void **state)
{
	refused_first(ISCSI_LOGIN_INITIATOR_ERROR, "InitiatorName",
		      TEXT("InitiatorName=a b\0TargetName=" IQN));
	refused_first(ISCSI_LOGIN_INITIATOR_ERROR, "InitiatorName",
		      TEXT("InitiatorName=\0TargetName=" IQN));
	refused_first(ISCSI_LOGIN_NOT_FOUND, "TargetName",
		      TEXT("InitiatorName=" ME "\0TargetName=\xff"));
}

static void test_0209_session_type(void **state)
{
	refused_first(ISCSI_LOGIN_SESSION_TYPE, "Strange",
		      TEXT("InitiatorName=" ME "\0TargetName=" IQN "\0SessionType=Strange"));
}

static void test_0200_texts(void **state)
{
	refused_first(ISCSI_LOGIN_INITIATOR_ERROR, "twice",
		      TEXT(NAMES "InitialR2T=No\0InitialR2T=No"));
	refused_first(ISCSI_LOGIN_INITIATOR_ERROR, "not a list", NAMES "HeaderDigest=None",
		      sizeof(NAMES "HeaderDigest=None") - 1);
	refused_first(ISCSI_LOGIN_INITIATOR_ERROR, "not a list", TEXT(NAMES "garbage"));
	refused_first(ISCSI_LOGIN_INITIATOR_ERROR, "TargetAlias", TEXT(NAMES "TargetAlias=me"));
	refused_first(ISCSI_LOGIN_INITIATOR_ERROR, "SendTargets", TEXT(NAMES "SendTargets=All"));
	refused_first(ISCSI_LOGIN_INITIATOR_ERROR, "AuthMethod", TEXT(NAMES "AuthMethod=None"));
	refused_first(ISCSI_LOGIN_INITIATOR_ERROR, "MaxRecvDataSegmentLength",
		      TEXT(NAMES "MaxRecvDataSegmentLength=1"));
}

static void test_0200_operational_keys_in_the_security_stage(void **state)
{
	say(SEC_TO_OP, TEXT(NAMES "AuthMethod=None\0HeaderDigest=None"));
	expect_refused(ISCSI_LOGIN_INITIATOR_ERROR, "HeaderDigest");
}

static void test_0200_another_value_later(void **state)
{
	say(OP, TEXT(NAMES "MaxBurstLength=65536"));
	say(OP, TEXT("MaxBurstLength=4096"));
	expect_refused(ISCSI_LOGIN_INITIATOR_ERROR, "MaxBurstLength");
}

static void test_0200_text_without_end(void **state)
{
	static char text[ISCSI_LOGIN_DATA_MAX + 1];
	memset(text, 'x', sizeof text);
	assert_int_equal(say(OP | MORE, text, 8192), LOGIN_CONTINUE);
	assert_int_equal(say(OP | MORE, text, 8192), LOGIN_CONTINUE);
	say(OP | MORE, text, 1);
	expect_refused(ISCSI_LOGIN_INITIATOR_ERROR, "16384");
	target_setup(NULL);
	say(OP, text, 8193);
	expect_refused(ISCSI_LOGIN_INITIATOR_ERROR, "8192");
}

static void test_0200_length_other_than_declared(void **state)
{
	request[1] = OP;
	put_be24(request + 5, 100);
	login_target_step(&target, request, "A=1", 4, &reply);
	expect_refused(ISCSI_LOGIN_INITIATOR_ERROR, "8192");
}

static void test_0200_exchanges_without_end(void **state)
{
	say(SEC, TEXT(NAMES));
	for (int i = 1; i < LOGIN_EXCHANGES_MAX; i++)
		assert_int_equal(say(SEC, NULL, 0), LOGIN_CONTINUE);
	say(SEC, NULL, 0);
	expect_refused(ISCSI_LOGIN_INITIATOR_ERROR, "too many");
}

static void test_0200_answers_that_do_not_fit(void **state)
{
	static char text[16384];
	size_t at = sizeof(NAMES) - 1;
	memcpy(text, NAMES, at);
	for (int i = 0; i < 124; i++)
		at += (size_t)sprintf(text + at, "X-%057d%d=", i, i % 2) + 1;
	assert_true(at > 7000 && at < 8192);
	say(OP_TO_FFP, text, at);
	expect_refused(ISCSI_LOGIN_INITIATOR_ERROR, "do not fit");
}

static void test_what_the_role_refuses(void **state)
{
	static const uint16_t statuses[] = {
		ISCSI_LOGIN_FORBIDDEN,	      ISCSI_LOGIN_NOT_FOUND,
		ISCSI_LOGIN_TARGET_REMOVED,   ISCSI_LOGIN_TOO_MANY_CONNECTIONS,
		ISCSI_LOGIN_CANNOT_INCLUDE,   ISCSI_LOGIN_NO_SESSION,
		ISCSI_LOGIN_TARGET_ERROR,     ISCSI_LOGIN_UNAVAILABLE,
		ISCSI_LOGIN_OUT_OF_RESOURCES,
	};
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
		target_setup(NULL);
		role.admit_status = statuses[i];
		say(OP_TO_FFP, TEXT(NAMES));
		expect_refused(statuses[i], "the role refuses");
		assert_int_equal(reply.text_len, 0);
		target_setup(NULL);
		role.attach_status = statuses[i];
		say(OP_TO_FFP, TEXT(NAMES));
		expect_refused(statuses[i], "no session");
	}
}

static void test_0300_mistakes_of_the_role(void **state)
{
	role.tsih = 0;
	say(OP_TO_FFP, TEXT(NAMES));
	expect_refused(ISCSI_LOGIN_TARGET_ERROR, "handle");
	target_setup(NULL);
	role.admit_status = ISCSI_LOGIN_MOVED_TEMPORARILY; // without an address
	say(OP_TO_FFP, TEXT(NAMES));
	expect_refused(ISCSI_LOGIN_TARGET_ERROR, "the role refuses");
	target_setup(NULL);
	role.admit_status = -ENOMEM;
	say(OP_TO_FFP, TEXT(NAMES));
	expect_refused(ISCSI_LOGIN_TARGET_ERROR, "the role refuses");
}

static void test_0200_a_digest_that_is_demanded(void **state)
{
	iscsi_offer_set(&role.terms.offer, "HeaderDigest", "CRC32C", NULL);
	say(OP_TO_FFP, TEXT(NAMES "HeaderDigest=None"));
	expect_refused(ISCSI_LOGIN_INITIATOR_ERROR, "HeaderDigest");
	assert_int_equal(role.attaches, 0);
}

static void test_0201_security_stage_skipped(void **state)
{
	demand_chap();
	say(OP_TO_FFP, TEXT(NAMES));
	expect_refused(ISCSI_LOGIN_AUTH_FAILED, "skips the security stage");
	assert_int_equal(role.attaches, 0);
}

static void test_0201_methods(void **state)
{
	static const struct {
		const char *offer, *hint;
	} rows[] = {
		{"AuthMethod=None",	     "CHAP is required"},
		{ "AuthMethod=KRB5,SRP", "CHAP is required"},
		{ "AuthMethod=",	 "CHAP is required"},
		{ "AuthMethod=chap",     "CHAP is required"},
		{ "InitiatorAlias=x",    "offers no method"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[512];
		target_setup(NULL);
		demand_chap();
		memcpy(text, NAMES, sizeof NAMES - 1);
		strcpy(text + sizeof NAMES - 1, rows[i].offer);
		say(SEC_TO_OP, text, sizeof NAMES + strlen(rows[i].offer));
		expect_refused(ISCSI_LOGIN_AUTH_FAILED, rows[i].hint);
	}
}

static void test_0201_nothing_is_configured_to_check(void **state)
{
	say(SEC_TO_OP, TEXT(NAMES "AuthMethod=CHAP"));
	expect_refused(ISCSI_LOGIN_AUTH_FAILED, "no CHAP user is configured");
	target_setup(NULL);
	role.terms.is_auth_required = true;
	say(SEC_TO_OP, TEXT(NAMES "AuthMethod=CHAP,None"));
	expect_refused(ISCSI_LOGIN_AUTH_FAILED, "no CHAP user is configured");
}

static void chap_begun(void)
{
	target_setup(NULL);
	demand_chap();
	say(SEC_TO_OP, TEXT(NAMES "AuthMethod=CHAP"));
	assert_int_equal(reply.bhs[1], SEC);
}

static void chap_asked(void)
{
	chap_begun();
	say(SEC, TEXT("CHAP_A=5"));
	assert_int_equal(reply.outcome, LOGIN_CONTINUE);
}

static void test_0201_algorithms(void **state)
{
	static const char *const lists[] = { "CHAP_A=", "CHAP_A=56", "CHAP_A=MD5", "CHAP_A=5," };
	for (size_t i = 0; i < 4; i++) {
		chap_begun();
		say(SEC, lists[i], strlen(lists[i]) + 1);
		expect_refused(ISCSI_LOGIN_AUTH_FAILED, "CHAP_A");
	}
	chap_begun();
	say(SEC, NULL, 0);
	expect_refused(ISCSI_LOGIN_AUTH_FAILED, "CHAP_A: missing");
}

static void test_0201_md5_switched_off(void **state)
{
	target_setup(NULL);
	demand_chap();
	role.terms.chap_algs &= ~CHAP_BIT(CHAP_MD5);
	say(SEC_TO_OP, TEXT(NAMES "AuthMethod=CHAP"));
	say(SEC, TEXT("CHAP_A=5"));
	expect_refused(ISCSI_LOGIN_AUTH_FAILED, "no allowed algorithm in 5");
}

static void test_0201_wrong_user_or_secret(void **state)
{
	char text[512];
	chap_asked();
	size_t len = chap_reply(CHAP_MD5, "alice", "not-the-secret", text, sizeof text);
	say(SEC_TO_OP, text, len);
	expect_refused(ISCSI_LOGIN_AUTH_FAILED, "wrong secret");
	chap_asked();
	len = chap_reply(CHAP_MD5, "mallory", SECRET, text, sizeof text);
	say(SEC_TO_OP, text, len);
	expect_refused(ISCSI_LOGIN_AUTH_FAILED, "mallory");
	assert_int_equal(role.attaches, 0);
}

static void test_0201_answers_missing(void **state)
{
	chap_asked();
	say(SEC_TO_OP, NULL, 0);
	expect_refused(ISCSI_LOGIN_AUTH_FAILED, "missing");
	chap_asked();
	say(SEC_TO_FFP, TEXT("CHAP_N=alice"));
	expect_refused(ISCSI_LOGIN_AUTH_FAILED, "missing");
	chap_asked();
	say(SEC_TO_OP, TEXT("CHAP_N=alice\0CHAP_R=0x"));
	expect_refused(ISCSI_LOGIN_AUTH_FAILED, "CHAP_R");
}

static void test_0200_chap_keys_out_of_place(void **state)
{
	demand_chap();
	say(SEC_TO_OP, TEXT(NAMES "AuthMethod=CHAP\0CHAP_A=5"));
	expect_refused(ISCSI_LOGIN_INITIATOR_ERROR, "before AuthMethod");
	target_setup(NULL);
	say(SEC_TO_OP, TEXT(NAMES "CHAP_N=alice"));
	expect_refused(ISCSI_LOGIN_INITIATOR_ERROR, "outside");
	chap_asked();
	say(SEC_TO_OP, TEXT("AuthMethod=None"));
	expect_refused(ISCSI_LOGIN_INITIATOR_ERROR, "twice");
}

// A right answer with these keys behind it.
static void answer_and(const char *more, size_t more_len)
{
	char text[4096];
	size_t len = chap_reply(CHAP_MD5, "alice", SECRET, text, sizeof text);
	memcpy(text + len, more, more_len);
	say(SEC_TO_OP, text, len + more_len);
}

static void test_mutual_questions_that_fail(void **state)
{
	chap_asked();
	answer_and(TEXT("CHAP_I=1\0CHAP_C=0x00112233445566778899aabbccddeeff"));
	expect_refused(ISCSI_LOGIN_AUTH_FAILED, "no mutual user");
	chap_asked();
	answer_and(TEXT("CHAP_I=1"));
	expect_refused(ISCSI_LOGIN_INITIATOR_ERROR, "must come together");
	chap_asked();
	answer_and(TEXT("CHAP_I=1\0CHAP_C=0x"));
	expect_refused(ISCSI_LOGIN_AUTH_FAILED, "CHAP_C");
}

static void test_0201_reflected_challenge(void **state)
{
	char question[256];
	struct text_pair c;
	chap_begun();
	chap_creds_set(&target.terms.target, "tgt", MUTUAL, NULL);
	say(SEC, TEXT("CHAP_A=5"));
	assert_int_equal(text_find(reply.text, reply.text_len, "CHAP_C", &c), 1);
	size_t len = (size_t)sprintf(question, "CHAP_I=9%cCHAP_C=%s", 0, c.value) + 1;
	answer_and(question, len);
	expect_refused(ISCSI_LOGIN_AUTH_FAILED, "reflection");
	assert_int_equal(reply.text_len, 0);
}

static void test_0201_one_secret_for_both_directions(void **state)
{
	chap_begun();
	chap_creds_set(&target.terms.target, "tgt", SECRET, NULL);
	say(SEC, TEXT("CHAP_A=5"));
	answer_and("", 0);
	expect_refused(ISCSI_LOGIN_AUTH_FAILED, "one secret");
}

static void test_refusing_from_outside(void **state)
{
	struct err why;
	err_set(&why, -ETIMEDOUT, "15 s have passed");
	assert_int_equal(login_target_refuse(&target, ISCSI_LOGIN_TARGET_ERROR, &why, &reply),
			 LOGIN_DROP);
	target_setup(NULL);
	say(SEC, TEXT(NAMES));
	login_target_refuse(&target, ISCSI_LOGIN_TARGET_ERROR, &why, &reply);
	expect_refused(ISCSI_LOGIN_TARGET_ERROR, "15 s");
	assert_int_equal(say(SEC, NULL, 0), LOGIN_DROP);
}

static void test_a_reason_is_one_printable_line(void **state)
{
	say(SEC_TO_OP, TEXT(NAMES "AuthMethod=\n\x1b[31mFAKE"));
	expect_refused(ISCSI_LOGIN_AUTH_FAILED, "??[31mFAKE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_the_first_pdu_must_be_a_login, target_setup),
		cmocka_unit_test_setup(test_020b_another_opcode_later, target_setup),
		cmocka_unit_test_setup(test_0205_version, target_setup),
		cmocka_unit_test_setup(test_0200_headers, target_setup),
		cmocka_unit_test_setup(test_0200_what_must_not_change, target_setup),
		cmocka_unit_test_setup(test_0200_names_that_change, target_setup),
		cmocka_unit_test_setup(test_0207_missing_names, target_setup),
		cmocka_unit_test_setup(test_bad_names, target_setup),
		cmocka_unit_test_setup(test_0209_session_type, target_setup),
		cmocka_unit_test_setup(test_0200_texts, target_setup),
		cmocka_unit_test_setup(test_0200_operational_keys_in_the_security_stage,
				       target_setup),
		cmocka_unit_test_setup(test_0200_another_value_later, target_setup),
		cmocka_unit_test_setup(test_0200_text_without_end, target_setup),
		cmocka_unit_test_setup(test_0200_length_other_than_declared, target_setup),
		cmocka_unit_test_setup(test_0200_exchanges_without_end, target_setup),
		cmocka_unit_test_setup(test_0200_answers_that_do_not_fit, target_setup),
		cmocka_unit_test_setup(test_what_the_role_refuses, target_setup),
		cmocka_unit_test_setup(test_0300_mistakes_of_the_role, target_setup),
		cmocka_unit_test_setup(test_0200_a_digest_that_is_demanded, target_setup),
		cmocka_unit_test_setup(test_0201_security_stage_skipped, target_setup),
		cmocka_unit_test_setup(test_0201_methods, target_setup),
		cmocka_unit_test_setup(test_0201_nothing_is_configured_to_check, target_setup),
		cmocka_unit_test_setup(test_0201_algorithms, target_setup),
		cmocka_unit_test_setup(test_0201_md5_switched_off, target_setup),
		cmocka_unit_test_setup(test_0201_wrong_user_or_secret, target_setup),
		cmocka_unit_test_setup(test_0201_answers_missing, target_setup),
		cmocka_unit_test_setup(test_0200_chap_keys_out_of_place, target_setup),
		cmocka_unit_test_setup(test_mutual_questions_that_fail, target_setup),
		cmocka_unit_test_setup(test_0201_reflected_challenge, target_setup),
		cmocka_unit_test_setup(test_0201_one_secret_for_both_directions, target_setup),
		cmocka_unit_test_setup(test_refusing_from_outside, target_setup),
		cmocka_unit_test_setup(test_a_reason_is_one_printable_line, target_setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
