// SPDX-License-Identifier: BSD-2-Clause
// core/options.c: command lines.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/options.h"

struct line {
	const char *file, *args[4];
	bool is_json, is_verbose;
	unsigned count;
};

static const struct option_row rows[] = {
	{'f',		   "file", "FILE", "a file", offsetof(struct line, file) },
	{ 0,	       "json", NULL, "as JSON", offsetof(struct line, is_json) },
	{ 'v', "verbose", NULL, "more", offsetof(struct line, is_verbose), .verbs = 2 },
	{ 0		   },
};

static int refuse(enum option_fault fault, const struct option_row *row, const char *word,
		  struct err *e)
{
	return err_set(e, -EINVAL, "%d %s", (int)fault, word);
}

static int take(void *to, const char *word, struct err *e)
{
	struct line *l = to;
	l->args[l->count++] = word;
	return 0;
}

static struct line line;
static struct err error;

// Reads the words of a subcommand; has_args: arguments are collected.
static int read_words(unsigned verb, bool has_args, const char *a, const char *b, const char *c)
{
	char *list[3];
	const char *const from[] = { a, b, c };
	const struct option_program p = { rows, verb, true, has_args ? take : NULL, refuse, &line };
	static char kept[3][16];
	int n = 0;
	for (; n < 3 && from[n]; n++)
		list[n] = memccpy(kept[n], from[n], 0, 16) ? kept[n] : NULL;
	line = (struct line){ 0 };
	return options_read(&p, n, list, &error);
}

static void a_value_follows_or_is_joined(void **state)
{
	assert_int_equal(read_words(0, false, "--file", "x", NULL), 2);
	assert_string_equal(line.file, "x");
	assert_int_equal(read_words(0, false, "--file=y=z", NULL, NULL), 1);
	assert_string_equal(line.file, "y=z");
	assert_int_equal(read_words(0, false, "-fx", "-f", "w"), 3);
	assert_string_equal(line.file, "w");
}

static void a_name_may_be_cut_short_and_letters_joined(void **state)
{
	assert_int_equal(read_words(0, false, "--js", NULL, NULL), 1);
	assert_true(line.is_json);
	assert_int_equal(read_words(0, false, "-vfx", NULL, NULL), 1);
	assert_true(line.is_verbose);
	assert_string_equal(line.file, "x");
}

static void arguments_end_the_options_or_are_collected(void **state)
{
	assert_int_equal(read_words(0, false, "ls", "--json", NULL), 0);
	assert_int_equal(read_words(0, true, "ls", "--json", "-"), 3);
	assert_true(line.is_json);
	assert_int_equal(line.count, 2);
	assert_int_equal(read_words(0, true, "--", "--json", NULL), 2);
	assert_string_equal(line.args[0], "--json");
}

static void misuse_is_told_by_the_program(void **state)
{
	assert_int_equal(read_words(0, false, "--nosuch", NULL, NULL), -EINVAL);
	assert_string_equal(error.text, "0 --nosuch");
	assert_int_equal(read_words(0, false, "--file", NULL, NULL), -EINVAL);
	assert_string_equal(error.text, "1 --file");
	assert_int_equal(read_words(0, false, "--json=1", NULL, NULL), -EINVAL);
	assert_string_equal(error.text, "2 --json=1");
}

static void a_subcommand_knows_its_own_options(void **state)
{
	assert_int_equal(read_words(1, false, "--verbose", NULL, NULL), -EINVAL);
	assert_int_equal(read_words(2, false, "--verbose", NULL, NULL), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_follows_or_is_joined),
		cmocka_unit_test(a_name_may_be_cut_short_and_letters_joined),
		cmocka_unit_test(arguments_end_the_options_or_are_collected),
		cmocka_unit_test(misuse_is_told_by_the_program),
		cmocka_unit_test(a_subcommand_knows_its_own_options),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
