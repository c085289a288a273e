// SPDX-License-Identifier: BSD-2-Clause
// cli/show.c: the look of ls and sessions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/show.h"

static char *text;
static size_t size;

static void draw(const char *json, unsigned width)
{
	free(text);
	struct look l = { .out = open_memstream(&text, &size), .width = width };
	struct json_object *o = json_tokener_parse(json);
	show_tree(&l, o);
	json_object_put(o);
	fclose(l.out);
}

static const char tree[] =
	"{\"name\": \"/\", \"summary\": \"...\", \"children\": ["
	" {\"name\": \"backstores\", \"summary\": \"...\", \"children\": ["
	"  {\"name\": \"ramdisk\", \"summary\": \"Storage Objects: 1\"}]},"
	" {\"name\": \"iscsi\", \"summary\": \"Targets: 0\", \"children\": []}]}";

static void branches_lead_down_to_later_siblings(void **state)
{
	draw(tree, 50);
	assert_string_equal(text, "o- / ....................................... [...]\n"
				  "  o- backstores ............................ [...]\n"
				  "  | o- ramdisk .............. [Storage Objects: 1]\n"
				  "  o- iscsi .......................... [Targets: 0]\n");
}

static void every_line_is_as_wide_as_the_terminal(void **state)
{
	draw(tree, 80);
	char *rest = text;
	for (char *line; (line = strsep(&rest, "\n")) && *line;)
		assert_int_equal(strlen(line), 80);
}

static void a_line_that_does_not_fit_is_whole(void **state)
{
	draw("{\"name\": \"a-rather-long-name\", \"summary\": \"a rather long summary\"}", 20);
	assert_string_equal(text, "o- a-rather-long-name . [a rather long summary]\n");
}

static void very_deep_trees_are_drawn_to_a_depth(void **state)
{
	char deep[32000] = "";
	for (int i = 0; i < 200; i++)
		strcat(deep, "{\"name\":\"n\",\"summary\":\"s\",\"children\":[");
	for (int i = 0; i < 200; i++)
		strcat(deep, "]}");
	free(text);
	struct look l = { .out = open_memstream(&text, &size), .width = 80 };
	struct json_tokener *tok = json_tokener_new_ex(1000);
	struct json_object *o = json_tokener_parse_ex(tok, deep, (int)strlen(deep));
	show_tree(&l, o);
	json_object_put(o);
	json_tokener_free(tok);
	fclose(l.out);
	assert_true(size > 1000);
}

static void no_sessions_are_said_to_be_none(void **state)
{
	free(text);
	struct look l = { .out = open_memstream(&text, &size), .width = 80 };
	show_sessions(&l, NULL);
	fclose(l.out);
	assert_string_equal(text, "(no open sessions)\n");
}

static void a_session_says_what_carries_it(void **state)
{
	static const char json[] = "[{\"transport\": \"iSER\", \"carrier\": \"iWARP\"}, "
				   "{\"transport\": \"TCP\", \"carrier\": \"TCP\"}]";
	free(text);
	struct look l = { .out = open_memstream(&text, &size), .width = 80 };
	struct json_object *o = json_tokener_parse(json);
	for (size_t i = 0; i < json_object_array_length(o); i++)
		show_session_address(&l, json_object_array_get_idx(o, i));
	fclose(l.out);
	json_object_put(o);
	assert_non_null(strstr(text, "(iSER over iWARP)"));
	assert_non_null(strstr(text, "(TCP)"));
}

static void a_list_of_numbers_is_one_line(void **state)
{
	free(text);
	struct look l = { .out = open_memstream(&text, &size), .width = 80 };
	struct json_object *o =
		json_tokener_parse("{\"reads\": {\"commands\": 3, \"log2_us\": [1, 0, 2]},"
				   " \"workers\": [{\"sleeps\": 4}]}");
	show_data(&l, o);
	json_object_put(o);
	fclose(l.out);
	assert_string_equal(text, "reads:\n"
				  "  commands: 3\n"
				  "  log2_us: 1 0 2\n"
				  "workers:\n"
				  "  sleeps: 4\n"
				  "\n");
}

static void a_refusal_says_when_who_and_why(void **state)
{
	free(text);
	setenv("TZ", "UTC", 1);
	struct look l = { .out = open_memstream(&text, &size), .width = 80 };
	struct json_object *o = json_tokener_parse(
		"[{\"first\": 86400, \"last\": 86461, \"count\": 2, \"initiator\": \"iqn.i\","
		"  \"target\": \"\", \"peer\": \"1.2.3.4:5\", \"status\": 513, \"reason\": "
		"\"no\"}]");
	show_refusals(&l, o);
	json_object_put(o);
	show_refusals(&l, NULL);
	fclose(l.out);
	assert_string_equal(text, "1970-01-02 00:01:01  iqn.i from 1.2.3.4:5 to (discovery): "
				  "status 0201\n"
				  "    no\n"
				  "    2 times since 1970-01-02 00:00:00\n"
				  "(no refused logins)\n");
}

static int teardown(void **state)
{
	free(text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branches_lead_down_to_later_siblings),
		cmocka_unit_test(every_line_is_as_wide_as_the_terminal),
		cmocka_unit_test(a_line_that_does_not_fit_is_whole),
		cmocka_unit_test(very_deep_trees_are_drawn_to_a_depth),
		cmocka_unit_test(no_sessions_are_said_to_be_none),
		cmocka_unit_test(a_session_says_what_carries_it),
		cmocka_unit_test(a_list_of_numbers_is_one_line),
		cmocka_unit_test(a_refusal_says_when_who_and_why),
	};
	return cmocka_run_group_tests(tests, NULL, teardown);
}
