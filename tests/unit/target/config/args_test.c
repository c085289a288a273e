// SPDX-License-Identifier: BSD-2-Clause
// target/config/args.c: arguments against their rows.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "target/config/tree/class.h"
#include "core/json/json.h"

static const struct param_row rows[] = {
	{"name",	  PARAM_STRING, true, NULL, "", NULL },
	{ "dev",	 PARAM_FILE, true, NULL, "", "file_or_dev" },
	{ "size",	  PARAM_SIZE, false, NULL, "", NULL },
	{ "sparse",	    PARAM_BOOL, false, "true", "", NULL },
	{ "port",PARAM_NUMBER, false, "3260", "", NULL },
	{ 0	    },
};

static struct json_object *positional, *named;
static struct args a;
static struct err e;

// Texts live as long as the JSON objects, so these stay until the next call.
static int parse(const char *list, const char *object)
{
	json_object_put(positional);
	json_object_put(named);
	positional = list ? json_tokener_parse(list) : NULL;
	named = object ? json_tokener_parse(object) : NULL;
	e = (struct err){ 0 };
	return args_parse(rows, positional, named, &a, &e);
}

static void by_position_and_by_name_mix(void **state)
{
	assert_int_equal(parse("[\"f0\"]", "{\"dev\": \"/x\", \"port\": 3261}"), 0);
	assert_string_equal(arg(&a, "name"), "f0");
	assert_string_equal(arg(&a, "dev"), "/x");
	assert_string_equal(arg(&a, "port"), "3261");
}

static void an_alias_is_the_same_parameter(void **state)
{
	assert_int_equal(parse("[\"f0\"]", "{\"file_or_dev\": \"/x\"}"), 0);
	assert_string_equal(arg(&a, "dev"), "/x");
}

static void what_is_absent_has_its_default(void **state)
{
	assert_int_equal(parse("[\"f0\", \"/x\"]", NULL), 0);
	assert_true(arg_bool(&a, "sparse", false));
	assert_false(arg_given(&a, "sparse"));
	assert_null(arg(&a, "size"));
}

static void misuse_is_refused_in_familiar_words(void **state)
{
	static const struct {
		const char *list, *object, *text;
		int code;
		// clang-format off
	} bad[] = {
		{ "[\"f0\"]", NULL, "Missing required parameter dev", -EBADRQC },
		{ NULL, NULL, "Missing required parameters 'name', 'dev'", -EBADRQC },
		{ "[\"a\",\"/b\"]", "{\"x\":1}", "Unexpected keyword parameter 'x'.", -EBADRQC },
		{ "[\"a\",\"/b\"]", "{\"name\":\"c\"}", "Duplicate parameter name.", -EBADRQC },
		{ "[1,2,3,true,5,6]", NULL, "Got 6 positional parameters, expected at most 5.",
		  -EBADRQC },
		{ "[\"a\",\"/b\"]", "{\"sparse\":\"maybe\"}",
		  "Syntax error, 'maybe' is not true|false.", -EINVAL },
		{ "[\"a\",\"b\"]", NULL,
		  "b: not an absolute path (farblockd does not run in your directory)",
		  -EINVAL },
		{ "[\"a\",\"\"]", NULL, "dev: empty ()", -EINVAL },
		{ "[\"a\",\"/b\"]", "{\"port\":\"x\"}", "Syntax error, 'x' is not a NUMBER.",
		  -EINVAL },
	};
	// clang-format on
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_int_equal(parse(bad[i].list, bad[i].object), bad[i].code);
		assert_string_equal(e.text, bad[i].text);
	}
}

static void arrays_and_objects_are_no_values(void **state)
{
	assert_int_equal(parse("[\"a\", [1]]", NULL), -EINVAL);
	assert_int_equal(parse("[\"a\", null]", NULL), -EINVAL);
	assert_int_equal(parse("{}", NULL), -EINVAL);
}

static int teardown(void **state)
{
	json_object_put(positional);
	json_object_put(named);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_position_and_by_name_mix),
		cmocka_unit_test(an_alias_is_the_same_parameter),
		cmocka_unit_test(what_is_absent_has_its_default),
		cmocka_unit_test(misuse_is_refused_in_familiar_words),
		cmocka_unit_test(arrays_and_objects_are_no_values),
	};
	return cmocka_run_group_tests(tests, NULL, teardown);
}
