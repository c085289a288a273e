// SPDX-License-Identifier: BSD-2-Clause
// cli/shell/show.c: the look of sessions, refusals and other data.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/shell/show.h"

static char *text;
static size_t size;

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

static void show(const char *refusals)
{
	free(text);
	setenv("TZ", "UTC", 1);
	struct look l = { .out = open_memstream(&text, &size), .width = 80 };
	struct json_object *o = refusals ? json_tokener_parse(refusals) : NULL;
	show_refusals(&l, o);
	json_object_put(o);
	fclose(l.out);
}

static void a_refusal_says_when_who_and_why(void **state)
{
	show("[{\"first\": 86400, \"last\": 86461, \"count\": 2, \"initiator\": \"iqn.i\","
	     "  \"target\": \"\", \"peer\": \"1.2.3.4:5\", \"status\": 513, \"reason\": \"no\"}]");
	assert_string_equal(text, "1970-01-02 00:01:01  iqn.i from 1.2.3.4:5 to (discovery): "
				  "status 0201\n"
				  "    no\n"
				  "    2 times since 1970-01-02 00:00:00\n");
	show(NULL);
	assert_string_equal(text, "(no refused logins)\n");
}

static void a_refused_peer_without_a_name_is_unknown(void **state)
{
	show("[{\"first\": 86400, \"last\": 86400, \"count\": 1, \"initiator\": \"\","
	     "  \"target\": \"\", \"peer\": \"1.2.3.4:5\", \"status\": 65537, \"reason\": "
	     "\"no\"}]");
	assert_string_equal(text, "1970-01-02 00:00:00  (unknown) from 1.2.3.4:5 to (unknown): "
				  "status 00010001\n"
				  "    no\n");
}

static int teardown(void **state)
{
	free(text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_sessions_are_said_to_be_none),
		cmocka_unit_test(a_session_says_what_carries_it),
		cmocka_unit_test(a_list_of_numbers_is_one_line),
		cmocka_unit_test(a_refusal_says_when_who_and_why),
		cmocka_unit_test(a_refused_peer_without_a_name_is_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, teardown);
}
