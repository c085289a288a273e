// SPDX-License-Identifier: BSD-2-Clause
// core/attr.c: what fits a row, what does not, and how it reads back.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/attr.h"

struct sample {
	uint32_t on, depth, mode;
	int32_t inherit;
	uint64_t big;
	char user[8], pass[8];
};

static const char *const modes[] = { "none", "implicit", "explicit", NULL };
static const struct attr_row rows[] = {
	{"on",		    ATTR_BOOL, offsetof(struct sample, on), 0, 1, "1", NULL, "", NULL, 0 },
	{ "depth", ATTR_UINT, offsetof(struct sample, depth), 1, 512, "64", NULL, "", NULL, 0 },
	{ "mode",		      ATTR_ENUM, offsetof(struct sample, mode), 0, 0, "explicit", NULL, "", modes, 0 },
	{ "inherit",		     ATTR_INT, offsetof(struct sample, inherit), -1, 1, "-1", NULL, "", NULL, 0 },
	{ "big",		     ATTR_UINT64, offsetof(struct sample, big), 0, 0, "7", NULL, "", NULL, 0 },
	{ "user",		      ATTR_STRING, offsetof(struct sample, user), 0, 8, "", NULL, "", NULL, 0 },
	{ "pass",		  ATTR_STRING, offsetof(struct sample, pass), 0, 8, "", NULL, "", NULL,
	  ATTR_SECRET },
	{ 0},
};

static int set(struct sample *s, const char *name, const char *text, struct err *e)
{
	return attr_set(attr_find(rows, name), s, text, e);
}

static void defaults_fill_every_field(void **state)
{
	struct sample s = { 0 };
	attr_defaults(rows, &s);
	assert_int_equal(s.on, 1);
	assert_int_equal(s.depth, 64);
	assert_int_equal(s.mode, 2);
	assert_int_equal(s.inherit, -1);
	assert_int_equal(s.big, 7);
}

static void unknown_name_is_not_found(void **state)
{
	assert_null(attr_find(rows, "nosuch"));
}

static void booleans_take_every_spelling(void **state)
{
	struct sample s = { 0 };
	static const char *const yes[] = { "1", "true", "Yes", "ON" };
	static const char *const no[] = { "0", "FALSE", "no", "off" };
	for (int i = 0; i < 4; i++) {
		assert_int_equal(set(&s, "on", yes[i], NULL), 0);
		assert_int_equal(s.on, 1);
		assert_int_equal(set(&s, "on", no[i], NULL), 0);
		assert_int_equal(s.on, 0);
	}
}

static void misfit_is_refused_and_the_field_untouched(void **state)
{
	static const char *const bad[][2] = {
		{"on",	"2"		    },
		{ "on",	""			   },
		     { "depth",	"0"		    },
		{ "depth",   "513"		 },
		{ "depth",   "-1"			},
		     { "depth",	"12x"		      },
		{ "depth",   " 12"		 },
		{ "depth",   ""		      },
		     { "depth",	"4294967297"	     },
		{ "inherit", "-2"		  },
		{ "mode",	  "maybe"		  },
		     { "big",     "18446744073709551616"},
		{ "user",	  "12345678"	     },
		{ "user",	  "a\nb"		 },
	};
	struct sample s, before;
	memset(&s, 0, sizeof s);
	attr_defaults(rows, &s);
	before = s;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct err e = { 0 };
		assert_int_equal(set(&s, bad[i][0], bad[i][1], &e), -EINVAL);
		assert_non_null(strstr(e.text, bad[i][0]));
		assert_memory_equal(&s, &before, sizeof s);
	}
}

static void refusal_tells_the_accepted_values(void **state)
{
	struct sample s = { 0 };
	struct err e = { 0 };
	set(&s, "depth", "9999", &e);
	assert_string_equal(e.text, "depth: '9999' is out of range (1..512)");
	set(&s, "mode", "both", &e);
	assert_string_equal(e.text, "mode: 'both' is not a valid choice (none|implicit|explicit)");
}

static void refusal_never_shows_a_secret(void **state)
{
	struct sample s = { 0 };
	struct err e = { 0 };
	assert_int_equal(set(&s, "pass", "hunter2hunter2", &e), -EINVAL);
	assert_null(strstr(e.text, "hunter2"));
}

static void what_is_set_reads_back(void **state)
{
	static const char *const values[][2] = {
		{"on",	"1"		    },
		{ "depth",   "512"		 },
		{ "mode",	  "implicit"	     },
		{ "inherit", "-1"		  },
		{ "big",	 "18446744073709551615"},
		{ "user",	  "1234567"		    },
	};
	struct sample s = { 0 };
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		char out[64];
		assert_int_equal(set(&s, values[i][0], values[i][1], NULL), 0);
		size_t len = attr_get(attr_find(rows, values[i][0]), &s, out, sizeof out);
		assert_string_equal(out, values[i][1]);
		assert_int_equal(len, strlen(values[i][1]));
	}
}

static void sizes_are_powers_of_1024(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{"512",	 512	     },
		{ "4k",	4096	     },
		 { "10M",	  10 << 20  },
		{ "1.5G",	  3ull << 29},
		{ "1GiB",	  1ull << 30},
		 { "128MB",   128 << 20 },
		{ "2T",	2ull << 40},
		{ "16.0MiB", 16 << 20  },
		 { "0",	0	  },
		{ "100b",	  100	      },
		{ "3p",	3ull << 50}
	};
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		uint64_t v = 1;
		assert_int_equal(parse_size(good[i].text, &v, NULL), 0);
		assert_true(v == good[i].bytes);
	}
}

static void yes_and_no_have_four_words_each(void **state)
{
	static const char *const yes[] = { "1", "true", "YES", "On" },
				 *const no[] = { "0", "False", "no", "off" },
				 *const neither[] = { "", "2", "y", "truee", "maybe", " 1" };
	bool is;
	for (size_t i = 0; i < 4; i++) {
		assert_true(is_yes(yes[i]));
		assert_true(parse_bool(no[i], &is) && !is);
	}
	for (size_t i = 0; i < sizeof neither / sizeof *neither; i++)
		assert_false(parse_bool(neither[i], &is) || is_yes(neither[i]));
	assert_false(is_yes(NULL));
}

static void what_is_no_size_is_refused(void **state)
{
	static const char *const bad[] = { "",	  "G",	  "-1",	 "1.G",		  "1.5", "1x",
					   "1Gi", "1GBs", " 1G", "1.0000000001G", "1 G", "0x10" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		uint64_t v = 42;
		assert_int_equal(parse_size(bad[i], &v, NULL), -EINVAL);
		assert_int_equal(v, 42);
	}
	uint64_t v;
	assert_int_equal(parse_size("16384P", &v, NULL), -ERANGE);
	assert_int_equal(parse_size("99999999999999999999", &v, NULL), -ERANGE);
}

static void sizes_are_shown_as_targetcli_shows_them(void **state)
{
	char out[32];
	format_size(1000, out);
	assert_string_equal(out, "1000 bytes");
	format_size(16 << 20, out);
	assert_string_equal(out, "16.0MiB");
	format_size(3ull << 29, out);
	assert_string_equal(out, "1.5GiB");
	format_size(UINT64_MAX, out);
	assert_string_equal(out, "16384.0PiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_fill_every_field),
		cmocka_unit_test(unknown_name_is_not_found),
		cmocka_unit_test(booleans_take_every_spelling),
		cmocka_unit_test(misfit_is_refused_and_the_field_untouched),
		cmocka_unit_test(refusal_tells_the_accepted_values),
		cmocka_unit_test(refusal_never_shows_a_secret),
		cmocka_unit_test(what_is_set_reads_back),
		cmocka_unit_test(sizes_are_powers_of_1024),
		cmocka_unit_test(yes_and_no_have_four_words_each),
		cmocka_unit_test(what_is_no_size_is_refused),
		cmocka_unit_test(sizes_are_shown_as_targetcli_shows_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
