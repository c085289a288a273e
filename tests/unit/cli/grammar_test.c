// SPDX-License-Identifier: BSD-2-Clause
// cli/shell/grammar.c: lines as users type them.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/shell/grammar.h"

static struct script script;
static struct line l; // its first command
static size_t at;
static struct err e;

static int parse(const char *text)
{
	script_done(&script);
	int r = script_parse(&script, text, &at, &e);
	l = script.count ? script.lines[0] : (struct line){ 0 };
	return r;
}

static void path_command_and_values_are_told_apart(void **state)
{
	assert_int_equal(parse("  /backstores/ramdisk create rd0 1G nullio=true\n"), 0);
	assert_string_equal(l.path, "/backstores/ramdisk");
	assert_string_equal(l.command, "create");
	assert_int_equal(l.count, 3);
	assert_null(l.values[1].name);
	assert_string_equal(l.values[1].text, "1G");
	assert_string_equal(l.values[2].name, "nullio");
	assert_string_equal(l.values[2].text, "true");
}

static void path_and_command_may_be_missing(void **state)
{
	assert_int_equal(parse("ls"), 0);
	assert_null(l.path);
	assert_string_equal(l.command, "ls");
	assert_int_equal(parse("/iscsi"), 0);
	assert_null(l.command);
	assert_int_equal(parse(".. ls"), 0);
	assert_string_equal(l.path, "..");
}

static void empty_lines_and_comments_are_nothing(void **state)
{
	static const char *const texts[] = { "", "   \n", "# create x", "  # y" };
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(parse(texts[i]), 0);
		assert_null(l.path);
		assert_null(l.command);
	}
}

static void quotes_keep_what_they_hold(void **state)
{
	static const char *const rows[][2] = {
		{"x 'a b'",	     "a b"   },
		      { "x \"a 'b\"",	      "a 'b"  },
		{ "x \"a\\\"b\\\\\"", "a\"b\\"},
		{ "x a\\ b",	     "a b"   },
		      { "x 'a\\b'",	    "a\\b"  },
		{ "x \"a\\b\"",	"a\\b"  },
		{ "x ''",		  ""	     },
		      { "x a'b'c",	   "abc"	 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(parse(rows[i][0]), 0);
		assert_string_equal(l.values[0].text, rows[i][1]);
	}
}

// What no sequence of RFC 3629 is, wherever it stands in a word.
static const struct {
	const char *text;
	size_t at;
} malformed[] = {
	{"create \xff",		 7 }, // of no sequence
	{ "create \x80",		 7 }, // a continuation alone
	{ "create a\xc3\xa9\xa9",	  10}, // one too many
	{ "create \xc0\xaf",	     7 }, // "/" in two bytes
	{ "create \xe0\x80\xaf",	 7 }, // and in three
	{ "create \xed\xa0\x80",	 7 }, // a surrogate
	{ "create \xf4\x90\x80\x80", 7 }, // past U+10FFFF
	{ "create a \xe2\x82",       9 }, // cut off by the end
	{ "create \xe2\x82 b",       7 }, // and by a blank
	{ "create 'a \xe2\x82'",	 10}, // and by a quote
	{ "ls; create size=\xc3",	  16}, // in a value
	{ "\xa0",		    0 }, // a blank of Latin 1
	{ "/\xe9 ls",		      1 }, // in the path
	{ "create \xc3'\xa9'",       7 }, // whole without its quotes only
};

static void malformed_utf8_is_pointed_at(void **state)
{
	for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
		assert_int_equal(parse(malformed[i].text), -EINVAL);
		assert_int_equal(at, malformed[i].at);
		assert_non_null(strstr(e.text, "not UTF-8"));
	}
	assert_int_equal(parse("create \xc3\xa9 '\xf0\x9f\x92\xbe' # \xff"), 0);
	assert_int_equal(script.lines[0].count, 2);
}

static void malformed_utf8_in_words_is_pointed_at(void **state)
{
	char *words[] = { (char *)"create", (char *)"n=a\xe9" };
	struct line once;
	assert_int_equal(line_from_words(&once, 2, words, &at, &e), -EINVAL);
	assert_int_equal(at, 10);
	line_done(&once);
}

static void a_password_may_hold_anything(void **state)
{
	assert_int_equal(parse("x set auth password='s3cret\"pass {|^ =w'"), 0);
	assert_string_equal(l.values[2].name, "password");
	assert_string_equal(l.values[2].text, "s3cret\"pass {|^ =w");
}

static void a_quoted_equals_sign_makes_no_name(void **state)
{
	assert_int_equal(parse("x 'a=b'"), 0);
	assert_null(l.values[0].name);
	assert_string_equal(l.values[0].text, "a=b");
}

static void an_open_quote_is_refused(void **state)
{
	assert_int_equal(parse("x 'abc"), -EINVAL);
	assert_int_equal(parse("x \"abc\\\""), -EINVAL);
}

static void a_backslash_before_nothing_is_refused(void **state)
{
	assert_true(parse("create q4 \\") < 0);
	assert_int_equal(at, 10);
	assert_int_equal(parse("create q4 \\\\"), 0);
	assert_int_equal(parse("create q4 '\\'"), 0);
}

static void a_value_without_a_command_is_refused(void **state)
{
	assert_int_equal(parse("/iscsi a=b"), -EINVAL);
}

static void too_many_words_are_refused(void **state)
{
	char text[400] = "x";
	for (int i = 0; i < 70; i++)
		strcat(text, " a");
	assert_int_equal(parse(text), -EINVAL);
}

static void words_of_a_shell_are_taken_as_they_are(void **state)
{
	char path[] = "/a", command[] = "set", group[] = "auth", value[] = "password=a 'b";
	char *words[] = { path, command, group, value };
	struct line w;
	assert_int_equal(line_from_words(&w, 4, words, &at, &e), 0);
	assert_string_equal(w.values[1].name, "password");
	assert_string_equal(w.values[1].text, "a 'b");
	assert_int_equal(w.values[1].at, strlen("/a set auth "));
	line_done(&w);
}

static void a_semicolon_ends_a_command(void **state)
{
	assert_int_equal(parse("cd /iscsi; ls ;; pwd;"), 0);
	assert_int_equal(script.count, 3);
	assert_string_equal(script.lines[0].values[0].text, "/iscsi");
	assert_string_equal(script.lines[1].command, "ls");
	assert_string_equal(script.lines[2].command, "pwd");
}

static void a_semicolon_inside_a_word_is_refused_where_it_is(void **state)
{
	assert_int_equal(parse("set auth userid=a;b"), -EINVAL);
	assert_int_equal(at, strlen("set auth userid=a"));
	assert_int_equal(parse("set auth userid='a;b'; ls"), 0);
	assert_string_equal(l.values[1].text, "a;b");
}

static void a_word_that_begins_with_a_hash_begins_a_comment(void **state)
{
	assert_int_equal(parse("ls /a#b # the tree; exit"), 0);
	assert_int_equal(script.count, 1);
	assert_int_equal(l.count, 1);
	assert_string_equal(l.values[0].text, "/a#b");
}

static void words_know_their_columns(void **state)
{
	assert_int_equal(parse("  /a set  x 'y z' k=v"), 0);
	assert_int_equal(l.path_at, 2);
	assert_int_equal(l.command_at, 5);
	assert_int_equal(l.values[1].at, 12);
	assert_int_equal(l.values[2].at, 18);
}

static void what_is_wrong_is_pointed_at(void **state)
{
	assert_int_equal(parse("x abc 'def"), -EINVAL);
	assert_int_equal(at, 6);
	assert_int_equal(parse("/iscsi a=b"), -EINVAL);
	assert_int_equal(at, 7);
}

static void a_line_is_refused_whole(void **state)
{
	assert_int_equal(parse("ls; x 'abc"), -EINVAL);
	assert_int_equal(at, 6);
}

static void stars_and_bookmarks_are_paths(void **state)
{
	assert_int_equal(parse("* ls"), 0);
	assert_string_equal(l.path, "*");
	assert_int_equal(parse("@here/luns ls"), 0);
	assert_string_equal(l.path, "@here/luns");
	assert_int_equal(parse("'@here'"), 0);
	assert_null(l.path);
}

static void paths_are_worked_out(void **state)
{
	static const char *const rows[][3] = {
		{"/",       "iscsi",	"/iscsi"},
		     { "/iscsi", "..",      "/"	   },
		{ "/a/b",	  "../c",	  "/a/c"	 },
		{ "/a",	"/b/./c/", "/b/c"  },
		     { "/",	    "../..",   "/"	 },
		{ "/a",	".",	     "/a"	  },
		{ "/a",	"",	    "/a"	 },
		     { "/a",     "...",	    "/a/..."},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char *path = path_join(rows[i][0], rows[i][1]);
		assert_string_equal(path, rows[i][2]);
		free(path);
	}
}

static int teardown(void **state)
{
	script_done(&script);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(path_command_and_values_are_told_apart),
		cmocka_unit_test(path_and_command_may_be_missing),
		cmocka_unit_test(empty_lines_and_comments_are_nothing),
		cmocka_unit_test(quotes_keep_what_they_hold),
		cmocka_unit_test(malformed_utf8_is_pointed_at),
		cmocka_unit_test(malformed_utf8_in_words_is_pointed_at),
		cmocka_unit_test(a_password_may_hold_anything),
		cmocka_unit_test(a_quoted_equals_sign_makes_no_name),
		cmocka_unit_test(an_open_quote_is_refused),
		cmocka_unit_test(a_backslash_before_nothing_is_refused),
		cmocka_unit_test(a_value_without_a_command_is_refused),
		cmocka_unit_test(too_many_words_are_refused),
		cmocka_unit_test(words_of_a_shell_are_taken_as_they_are),
		cmocka_unit_test(a_semicolon_ends_a_command),
		cmocka_unit_test(a_semicolon_inside_a_word_is_refused_where_it_is),
		cmocka_unit_test(a_word_that_begins_with_a_hash_begins_a_comment),
		cmocka_unit_test(words_know_their_columns),
		cmocka_unit_test(what_is_wrong_is_pointed_at),
		cmocka_unit_test(a_line_is_refused_whole),
		cmocka_unit_test(stars_and_bookmarks_are_paths),
		cmocka_unit_test(paths_are_worked_out),
	};
	return cmocka_run_group_tests(tests, NULL, teardown);
}
