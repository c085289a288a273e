// SPDX-License-Identifier: BSD-2-Clause
// CHAP: vectors, lists, exact lengths, reflections.
#include "transport/iscsi/chap.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct err e;
static struct chap_creds creds, own;
static struct chap_challenge challenge;
static char buf[4096];

static int setup(void **state)
{
	chap_creds_set(&creds, "alice", "0123456789abcdef", NULL);
	chap_creds_set(&own, "target", "another-secret-16", NULL);
	challenge = (struct chap_challenge){ .id = 0x2a, .len = 16 };
	for (int i = 0; i < 16; i++)
		challenge.bytes[i] = (uint8_t)i;
	return 0;
}

static const struct {
	unsigned alg;
	const char *answer;
} vectors[] = {
	{CHAP_MD5,	    "0x0fbee2a235349701655e644832d106bf"				 },
	{ CHAP_SHA1,     "0x5617a555f0045171364ed82310b9c08c4d48faeb"			  },
	{ CHAP_SHA256,   "0xd8c3aedd13f3e0017b09becc2da9c74a6d001ab22424256ad456063e668f5d14"},
	{ CHAP_SHA3_256, "0x972a2f638a858f5d97206e79fdf525a79b427550f3b79af445c6664fea05b508"},
};

static void test_vectors_are_given(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct text_out o;
		struct text_pair p;
		text_out_init(&o, buf, sizeof buf);
		assert_int_equal(chap_answer_append(vectors[i].alg, &challenge, &creds, &o), 0);
		assert_int_equal(text_find(buf, o.len, "CHAP_R", &p), 1);
		assert_string_equal(p.value, vectors[i].answer);
		assert_int_equal(text_find(buf, o.len, "CHAP_N", &p), 1);
		assert_string_equal(p.value, "alice");
	}
}

static int check(unsigned alg, const char *name, const char *answer)
{
	return chap_answer_check(alg, &challenge, &creds, &own, name, answer, &e);
}

static void test_vectors_are_accepted(void **state)
{
	for (int i = 0; i < 4; i++)
		assert_int_equal(check(vectors[i].alg, "alice", vectors[i].answer), 0);
}

static void test_base64_and_upper_case_are_accepted(void **state)
{
	uint8_t raw[16];
	size_t len;
	struct text_out o;
	assert_int_equal(text_binary_decode(vectors[0].answer, raw, 16, &len), 0);
	text_out_init(&o, buf, sizeof buf);
	assert_int_equal(text_append_base64(&o, "R", raw, 16), 0);
	assert_int_equal(check(CHAP_MD5, "alice", buf + 2), 0);
	assert_int_equal(check(CHAP_MD5, "alice", "0X0FBEE2A235349701655E644832D106BF"), 0);
}

static void test_wrong_answers_are_refused(void **state)
{
	static const char *const bad[] = {
		"0x0fbee2a235349701655e644832d106be",	// one bit
		"0x0fbee2a235349701655e644832d106",	// short
		"0x000fbee2a235349701655e644832d106bf", // leading byte
		"0fbee2a235349701655e644832d106bf",	// no prefix
		"0bAA+4f",
		"0x",
		"",
		"0x5617a555f0045171364ed82310b9c08c4d48faeb", // another algorithm's
		"0x0fbee2a235349701655e644832d106bf0fbee2a235349701655e644832d106bf0fbee2a235",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(check(CHAP_MD5, "alice", bad[i]), -EACCES);
}

static void test_the_user_must_be_the_one_configured(void **state)
{
	assert_int_equal(check(CHAP_MD5, "bob", vectors[0].answer), -EACCES);
	assert_int_equal(check(CHAP_MD5, "", vectors[0].answer), -EACCES);
	assert_int_equal(check(CHAP_MD5, "alice2", vectors[0].answer), -EACCES);
	memset(&creds, 0, sizeof creds);
	assert_int_equal(check(CHAP_MD5, "", vectors[0].answer), -EACCES);
}

static void test_a_user_that_looks_like_a_number_is_text(void **state)
{
	chap_creds_set(&creds, "0x616c696365", "0123456789abcdef", NULL);
	assert_int_equal(check(CHAP_MD5, "0x616c696365", vectors[0].answer), 0);
	assert_int_equal(check(CHAP_MD5, "alice", vectors[0].answer), -EACCES);
}

static void test_our_own_answer_is_a_reflection(void **state)
{
	own = creds;
	assert_int_equal(check(CHAP_MD5, "alice", vectors[0].answer), -EACCES);
	assert_non_null(strstr(e.text, "reflection"));
}

static void test_algorithm_choice(void **state)
{
	assert_int_equal(chap_alg_choose("5,6,7,8", CHAP_ALGS_ALL), 5);
	assert_int_equal(chap_alg_choose("5,6,7,8", CHAP_ALGS_ALL & ~CHAP_BIT(5)), 6);
	assert_int_equal(chap_alg_choose("8", CHAP_ALGS_ALL), 8);
	assert_int_equal(chap_alg_choose("5", CHAP_BIT(8)), -ENOENT);
	assert_int_equal(chap_alg_choose("56", CHAP_ALGS_ALL), -ENOENT);
	assert_int_equal(chap_alg_choose("0", CHAP_ALGS_ALL | 1), -ENOENT);
	assert_int_equal(chap_alg_choose("37", ~0u), -ENOENT);
	assert_int_equal(chap_alg_choose("", CHAP_ALGS_ALL), -EPROTO);
	assert_int_equal(chap_alg_choose("5,", CHAP_ALGS_ALL), -EPROTO);
	assert_int_equal(chap_alg_choose("MD5", CHAP_ALGS_ALL), -EPROTO);
	assert_int_equal(chap_alg_choose("99999999999999999999", CHAP_ALGS_ALL), -EPROTO);
}

static void test_algorithm_lists(void **state)
{
	char list[16];
	unsigned mask;
	chap_alg_list(CHAP_ALGS_ALL, list);
	assert_string_equal(list, "8,7,6,5");
	chap_alg_list(CHAP_ALGS_OFFER, list);
	assert_string_equal(list, "8,6,5");
	assert_int_equal(chap_algs_parse("SHA3-256,sha256,SHA1,MD5", &mask, &e), 0);
	assert_int_equal(mask, CHAP_ALGS_ALL);
	assert_int_equal(chap_algs_parse("7", &mask, &e), 0);
	assert_int_equal(mask, CHAP_BIT(7));
	assert_int_equal(chap_algs_parse("MD5,MD6", &mask, &e), -EINVAL);
	assert_int_equal(chap_algs_parse("", &mask, &e), -EINVAL);
}

static void test_challenges_are_fresh_and_as_long_as_the_digest(void **state)
{
	struct chap_challenge a, b;
	assert_int_equal(chap_challenge_new(CHAP_SHA256, &a), 0);
	assert_int_equal(chap_challenge_new(CHAP_SHA256, &b), 0);
	assert_int_equal(a.len, 32);
	assert_false(chap_challenge_same(&a, &b));
	assert_true(chap_challenge_same(&a, &a));
	assert_int_equal(chap_challenge_new(9, &a), -EINVAL);
}

static void test_challenges_are_read_as_they_are_written(void **state)
{
	struct text_out o;
	struct text_pair i, c;
	struct chap_challenge back;
	text_out_init(&o, buf, sizeof buf);
	assert_int_equal(chap_challenge_append(&challenge, &o), 0);
	assert_int_equal(text_find(buf, o.len, "CHAP_I", &i), 1);
	assert_int_equal(text_find(buf, o.len, "CHAP_C", &c), 1);
	assert_memory_equal(c.value, "0x", 2);
	assert_int_equal(chap_challenge_parse(i.value, c.value, &back, &e), 0);
	assert_int_equal(back.id, 0x2a);
	assert_true(chap_challenge_same(&challenge, &back));
}

static void test_bad_challenges_are_refused(void **state)
{
	static char longest[2 + 2 * 1025 + 1] = "0x";
	struct chap_challenge c;
	memset(longest + 2, 'a', 2 * 1025);
	assert_int_equal(chap_challenge_parse("1", longest, &c, &e), -EPROTO);
	longest[2 + 2 * 1024] = 0;
	assert_int_equal(chap_challenge_parse("1", longest, &c, &e), 0);
	assert_int_equal(chap_challenge_parse("256", "0x00", &c, &e), -EPROTO);
	assert_int_equal(chap_challenge_parse("", "0x00", &c, &e), -EPROTO);
	assert_int_equal(chap_challenge_parse("1", "0x", &c, &e), -EPROTO);
	assert_int_equal(chap_challenge_parse("1", "00", &c, &e), -EPROTO);
}

static void test_credentials_that_cannot_work_are_refused(void **state)
{
	char longest[300];
	memset(longest, 'x', sizeof longest);
	longest[256] = 0;
	assert_int_equal(chap_creds_set(&creds, longest, "s", &e), -EINVAL);
	assert_int_equal(chap_creds_set(&creds, "u", longest, &e), -EINVAL);
	assert_int_equal(chap_creds_set(&creds, "u", "", &e), -EINVAL);
	assert_int_equal(chap_creds_set(&creds, "", "s", &e), -EINVAL);
	assert_string_equal(creds.user, "alice");
	longest[255] = 0;
	assert_int_equal(chap_creds_set(&creds, longest, longest, &e), 0);
	assert_int_equal(chap_creds_set(&creds, "", "", &e), 0);
}

static void test_wiped_is_zero(void **state)
{
	static const struct chap_creds zero;
	chap_wipe(&creds, sizeof creds);
	assert_memory_equal(&creds, &zero, sizeof zero);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_vectors_are_given, setup),
		cmocka_unit_test_setup(test_vectors_are_accepted, setup),
		cmocka_unit_test_setup(test_base64_and_upper_case_are_accepted, setup),
		cmocka_unit_test_setup(test_wrong_answers_are_refused, setup),
		cmocka_unit_test_setup(test_the_user_must_be_the_one_configured, setup),
		cmocka_unit_test_setup(test_a_user_that_looks_like_a_number_is_text, setup),
		cmocka_unit_test_setup(test_our_own_answer_is_a_reflection, setup),
		cmocka_unit_test_setup(test_algorithm_choice, setup),
		cmocka_unit_test_setup(test_algorithm_lists, setup),
		cmocka_unit_test_setup(test_challenges_are_fresh_and_as_long_as_the_digest, setup),
		cmocka_unit_test_setup(test_challenges_are_read_as_they_are_written, setup),
		cmocka_unit_test_setup(test_bad_challenges_are_refused, setup),
		cmocka_unit_test_setup(test_credentials_that_cannot_work_are_refused, setup),
		cmocka_unit_test_setup(test_wiped_is_zero, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
