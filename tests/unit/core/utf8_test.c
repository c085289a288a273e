// SPDX-License-Identifier: BSD-2-Clause
// UTF-8 [RFC 3629]: what is well-formed, and what is made of the rest.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/utf8.h"

static void every_length_is_well_formed(void **state)
{
	assert_true(utf8_is_fine(""));
	assert_true(utf8_is_fine("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x92\xbe"));
}

static void what_is_cut_overlong_or_too_high_is_malformed(void **state)
{
	static const char *const bad[] = {
		"\xc3", "\xa4", "a\xff", "\xc0\x80", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (utf8_is_fine(bad[i]))
			fail_msg("text %zu is taken for UTF-8", i);
}

static void mending_touches_only_what_is_malformed(void **state)
{
	char text[] = "a\xc3\xa4\xff\xc3";
	utf8_mend(text);
	assert_string_equal(text, "a\xc3\xa4??");
}

static void taming_leaves_one_line_of_text(void **state)
{
	char text[] = "a\xc3\xa4\n\x1b\xc2\x9b[2J\xff";
	utf8_tame(text);
	assert_string_equal(text, "a\xc3\xa4????[2J?");
}

static void control_characters_are_known_in_every_length(void **state)
{
	static const struct {
		const char *text;
		bool is_control;
	} rows[] = {
		{"\x1b",		  true },
		  { "\x7f",		    true },
		     { "a",		    false},
		{ "\xc2\x9b",	      true },
		  { "\xc2\xa0",		false},
		     { "\xc3\xa4",	   false},
		{ "\xe2\x80\xae",	  true },
		  { "\xe2\x82\xac",	    false},
		     { "\xf0\x9f\x92\xbe", false},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (utf8_is_control((const uint8_t *)rows[i].text, strlen(rows[i].text)) !=
		    rows[i].is_control)
			fail_msg("row %zu", i);
}

static void showing_tells_every_byte(void **state)
{
	char out[64];
	utf8_show("a\xc3\xa4\n\x1b\xc2\x9b\xe2\x80\xae\x7f\xff\xc2", out, sizeof out);
	assert_string_equal(out, "a\xc3\xa4\\u000a\\u001b\\u009b\\u202e\\u007f\\xff\\xc2");
	utf8_show("", out, sizeof out);
	assert_string_equal(out, "");
}

static void showing_ends_with_a_whole_character(void **state)
{
	static const struct {
		size_t size;
		const char *text, *shown;
	} rows[] = {
		{5,  "abcd",	     "abcd"	    },
		{ 5, "abcde",	      "a..."	     },
		{ 6, "a\xc3\xa4\x1b", "a..."	     },
		{ 7, "a\xc3\xa4\x1b", "a\xc3\xa4..."},
		{ 4, "abcd",	     "..."	   },
		{ 4, "\x1b",	     "..."	   },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char out[8];
		memset(out, '#', sizeof out);
		utf8_show(rows[i].text, out, rows[i].size);
		assert_string_equal(out, rows[i].shown);
		assert_int_equal(rows[i].size < 7 ? out[rows[i].size] : '#', '#');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_length_is_well_formed),
		cmocka_unit_test(what_is_cut_overlong_or_too_high_is_malformed),
		cmocka_unit_test(control_characters_are_known_in_every_length),
		cmocka_unit_test(mending_touches_only_what_is_malformed),
		cmocka_unit_test(taming_leaves_one_line_of_text),
		cmocka_unit_test(showing_tells_every_byte),
		cmocka_unit_test(showing_ends_with_a_whole_character),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
