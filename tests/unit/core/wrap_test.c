// SPDX-License-Identifier: BSD-2-Clause
// Text broken to a width.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/wrap.h"

static void is_text(const char *text, int at, int width, const char *expected)
{
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	assert_non_null(f);
	wrap_print(f, text, at, width);
	fclose(f);
	assert_string_equal(out, expected);
	free(out);
}

static void lines_are_broken_at_blanks(void **state)
{
	is_text("one two three four", 0, 11, "one two\nthree four\n");
	is_text("one two three four", 2, 20, "one two three\n  four\n");
}

static void without_a_width_it_is_one_line(void **state)
{
	is_text("one two three four", 0, 0, "one two three four\n");
	is_text("one two three four", 30, 35, "one two three four\n");
}

static void a_long_word_stays_whole(void **state)
{
	is_text("a incomprehensibilities b", 0, 12, "a\nincomprehensibilities\nb\n");
	is_text("", 0, 12, "\n");
}

static void a_file_is_no_terminal(void **state)
{
	FILE *f = tmpfile();
	assert_non_null(f);
	assert_int_equal(wrap_width(f), 0);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_broken_at_blanks),
		cmocka_unit_test(without_a_width_it_is_one_line),
		cmocka_unit_test(a_long_word_stays_whole),
		cmocka_unit_test(a_file_is_no_terminal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
