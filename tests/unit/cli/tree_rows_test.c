// SPDX-License-Identifier: BSD-2-Clause
// cli/tree_rows.c: a tree in JSON as rows for drawing.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/tree_rows.h"

static char *rows;

static int convert(const char *json)
{
	struct err e;
	free(rows);
	return tree_rows_of(json, &rows, &e);
}

static void each_node_is_a_row(void **state)
{
	assert_int_equal(
		convert("{\"name\":\"/\",\"summary\":\"...\",\"children\":["
			"{\"name\":\"a\",\"class\":\"x\",\"summary\":\"one\",\"healthy\":true,"
			"\"serial\":\"s1\",\"children\":[{\"name\":\"b\",\"summary\":\"\"}]},"
			" {\"name\":\"c\",\"healthy\":false,\"children\":[ ]} ] }"),
		0);
	assert_string_equal(rows, "=.//...\n +|a/s1/one\n  =.b//\n -.c//\n");
}

static void escapes_stay_on_their_line(void **state)
{
	assert_int_equal(convert("{\"name\":\"a\\\"b\\\\\",\"summary\":\"x\\ny\\u0009z\\u0041\"}"),
			 0);
	assert_string_equal(rows, "=.a\"b\\//x y zA\n");
}

static void other_members_of_any_shape_are_skipped(void **state)
{
	assert_int_equal(convert("{\"x\":{\"name\":\"}]\\\"\"},\"name\":\"a\",\"y\":[1,{\"z\":null}"
				 "],\"w\":-1.5}"),
			 0);
	assert_string_equal(rows, "=.a//\n");
}

static void what_is_no_tree_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"{\"name\":1}",
		"{\"name\":\"a\"",
		"{\"name\":\"a",
		"{\"name\":\"a\",\"children\":[}",
		"{\"name\":\"a\",\"children\":{}}",
		"{\"name\":\"a\",\"children\":[{}]}",
		"{\"name\":\"a\\",
		"{\"name\":\"a\",}",
		"{\"children\":[],\"x\":[[]",
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(convert(bad[i]), -EPROTO);
}

static void nesting_is_bounded(void **state)
{
	static char text[70 * 30];
	for (int i = 0; i < 70; i++)
		strcat(text, "{\"name\":\"a\",\"children\":[");
	assert_int_equal(convert(text), -EPROTO);
}

static void members_are_found(void **state)
{
	assert_int_equal(*json_text_member("{\"a\":{\"b\":1}, \"b\" : 2}", "b"), '2');
	assert_null(json_text_member("{\"a\":{\"b\":1}}", "b"));
	assert_null(json_text_member("{\"a\":", "b"));
}

static int teardown(void **state)
{
	free(rows);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_node_is_a_row),
		cmocka_unit_test(escapes_stay_on_their_line),
		cmocka_unit_test(other_members_of_any_shape_are_skipped),
		cmocka_unit_test(what_is_no_tree_is_refused),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(members_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, teardown);
}
