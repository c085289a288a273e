// SPDX-License-Identifier: BSD-2-Clause
// target/config/json.c: mistakes have a place, output has an order.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/json/json.h"

static void a_mistake_is_named_by_line_and_column(void **state)
{
	static const char text[] = "{\n  \"a\": 1,\n  \"b\": oops\n}";
	struct err e = { 0 };
	assert_null(json_read(text, strlen(text), "FILE", &e));
	assert_int_equal(e.code, -EINVAL);
	assert_non_null(strstr(e.text, "FILE: line 3, column 8"));
}

static void a_mistake_behind_other_characters_has_its_place_in_the_text(void **state)
{
	static const char text[] = "{\n  \"\xc3\xa9\": \"\xf0\x9f\x98\x80\", \"b\": oops\n}";
	struct err e = { 0 };
	assert_null(json_read(text, strlen(text), "FILE", &e));
	assert_non_null(strstr(e.text, "FILE: line 2, column 22"));
}

static void a_character_that_is_not_ascii_is_no_escape(void **state)
{
	static const char text[] = "{\"k\": \"\\\xc3\xa9\"}";
	struct err e = { 0 };
	assert_null(json_read(text, strlen(text), "FILE", &e));
	assert_int_equal(e.code, -EINVAL);
}

static void malformed_utf8_is_refused_where_it_stands(void **state)
{
	static const char *const texts[] = {
		"\"ab\xff\"",	      // no such byte
		"\"ab\xc0\x80\"",     // an overlong NUL
		"\"ab\xed\xa0\x80\"", // a surrogate
		"\"ab\xe2\x82",	      // cut off
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct err e = { 0 };
		assert_null(json_read(texts[i], strlen(texts[i]), "FILE", &e));
		assert_string_equal(e.text, "FILE: line 1, column 4: not UTF-8");
	}
}

static void a_text_that_was_cut_off_is_called_so(void **state)
{
	static const char *const texts[] = { "", "{", "{\"a\": [1, 2", "\"abc" };
	for (size_t i = 0; i < 4; i++) {
		struct err e = { 0 };
		assert_null(json_read(texts[i], strlen(texts[i]), "FILE", &e));
		assert_non_null(strstr(e.text, "truncated"));
	}
}

static void text_behind_the_document_is_refused(void **state)
{
	struct err e = { 0 };
	assert_null(json_read("{} {}", 5, "FILE", &e));
	assert_non_null(strstr(e.text, "column 4"));
}

static void depth_is_bounded(void **state)
{
	char text[200];
	struct err e = { 0 };
	memset(text, '[', sizeof text);
	assert_null(json_read(text, sizeof text, "FILE", &e));
	assert_non_null(strstr(e.text, "nesting"));
}

static void keys_come_out_sorted_and_indented_by_two(void **state)
{
	static const char text[] = "{\"b\":[],\"a\":{\"y\":[1,true],\"x\":null}}";
	static const char wanted[] = "{\n  \"a\": {\n    \"x\": null,\n    \"y\": [\n      1,\n"
				     "      true\n    ]\n  },\n  \"b\": []\n}\n";
	size_t len;
	struct json_object *o = json_read(text, strlen(text), "t", NULL);
	char *out = json_write(o, &len);
	assert_string_equal(out, wanted);
	assert_int_equal(len, strlen(wanted));
	free(out);
	json_object_put(o);
}

static void a_frozen_object_is_written_as_it_was(void **state)
{
	static const char text[] = "{\"a\":[{\"y\":[1,{}],\"x\":\"\\\"\"}]}";
	size_t len;
	struct json_object *o = json_read(text, strlen(text), "t", NULL),
			   *list = json_field(o, "a");
	char *before = json_write(o, &len);
	struct json_object *first = json_object_array_get_idx(list, 0);
	struct json_object *frozen = json_frozen(first, 2);
	json_object_object_add(first, "z", json_object_new_int(1)); // too late
	json_object_array_put_idx(list, 0, frozen);
	char *after = json_write(o, &len);
	assert_string_equal(after, before);
	free(before);
	free(after);
	json_object_put(o);
}

static void every_character_survives(void **state)
{
	static const char text[] = "{\"k\":\"\\u0001\\\"\\\\/"
				   "\\n\\u00e9\xc3\xa9\\\\\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"}";
	size_t len;
	struct json_object *a = json_read(text, strlen(text), "t", NULL);
	char *out = json_write(a, &len);
	struct json_object *b = json_read(out, len, "t", NULL);
	assert_non_null(b);
	assert_string_equal(json_text(a, "k"), json_text(b, "k"));
	assert_string_equal(json_text(a, "k"), "\1\"\\/\n\xc3\xa9\xc3\xa9\\\xc3\xa9\xe2\x82\xac"
					       "\xf0\x9f\x98\x80");
	free(out);
	json_object_put(a);
	json_object_put(b);
}

static void only_plain_integers_become_numbers(void **state)
{
	static const struct {
		const char *text;
		enum json_type type;
		// clang-format off
	} rows[] = {
		{ "12", json_type_int },
		{ "-1", json_type_int },
		{ "012", json_type_string },
		{ "1.5", json_type_string },
		{ "", json_type_string },
		{ "99999999999999999999", json_type_string },
	};
	// clang-format on
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct json_object *o = json_number_or_text(rows[i].text);
		assert_int_equal(json_object_get_type(o), rows[i].type);
		json_object_put(o);
	}
}

static void the_entries_of_a_list_are_visited_in_order(void **state)
{
	struct json_object *list = json_object_new_array();
	json_add_text(list, "a");
	json_object_array_add(list, NULL);
	json_put_number(json_add_object(list), "k", 7);
	const char *const expected[] = { "a", NULL, "7" };
	size_t n = 0;
	json_each (entry, list) {
		const char *text = json_scalar(n < 2 ? entry : json_field(entry, "k"));
		assert_true(text ? !strcmp(text, expected[n]) : !expected[n]);
		n++;
	}
	assert_int_equal(n, json_count(list));
	json_object_put(list);
}

static void what_is_no_list_has_no_entries(void **state)
{
	struct json_object *o = json_object_new_object();
	json_put_bool(o, "k", true);
	struct json_object *const values[] = { NULL, o, json_field(o, "k"), json_list(o, "l") };
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(json_count(values[i]), 0);
		json_each (entry, values[i])
			fail_msg("%s", json_scalar(entry));
	}
	json_object_put(o);
}

static void a_part_takes_the_place_of_another_type(void **state)
{
	struct json_object *o = json_object_new_object();
	json_put_text(o, "k", "text");
	json_put_text(json_part(o, "k"), "a", "1");
	assert_string_equal(json_text(json_part(o, "k"), "a"), "1");
	json_add_text(json_list(o, "k"), "x");
	assert_int_equal(json_count(json_list(o, "k")), 1);
	json_object_put(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mistake_is_named_by_line_and_column),
		cmocka_unit_test(a_mistake_behind_other_characters_has_its_place_in_the_text),
		cmocka_unit_test(a_character_that_is_not_ascii_is_no_escape),
		cmocka_unit_test(malformed_utf8_is_refused_where_it_stands),
		cmocka_unit_test(a_text_that_was_cut_off_is_called_so),
		cmocka_unit_test(text_behind_the_document_is_refused),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(keys_come_out_sorted_and_indented_by_two),
		cmocka_unit_test(a_frozen_object_is_written_as_it_was),
		cmocka_unit_test(every_character_survives),
		cmocka_unit_test(only_plain_integers_become_numbers),
		cmocka_unit_test(the_entries_of_a_list_are_visited_in_order),
		cmocka_unit_test(what_is_no_list_has_no_entries),
		cmocka_unit_test(a_part_takes_the_place_of_another_type),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
