// SPDX-License-Identifier: BSD-2-Clause
// target/rpc/answer.c: JSON-RPC 2.0, requests to answers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/json/json.h"
#include "target/rpc/method.h"

static struct json_object *answer;
static unsigned stops;

static void stop(void *arg)
{
	stops++;
}

static struct json_object *ask_as(bool is_admin, const char *request)
{
	struct rpc_context x = { .stop = stop };
	size_t len = 0;
	char *text = rpc_answer(&x, request, strlen(request), is_admin, &len);
	json_object_put(answer);
	answer = NULL;
	if (!text)
		return NULL;
	assert_int_equal(text[len - 1], '\n');
	assert_null(memchr(text, '\n', len - 1));
	answer = json_tokener_parse(text);
	free(text);
	return answer;
}

static struct json_object *ask(const char *request)
{
	return ask_as(true, request);
}

static int code(void)
{
	return json_object_get_int(json_field(json_field(answer, "error"), "code"));
}

static void a_request_gets_its_result_and_id(void **state)
{
	ask("{\"jsonrpc\":\"2.0\",\"id\":\"x7\",\"method\":\"version\"}");
	assert_string_equal(json_text(answer, "id"), "x7");
	assert_string_equal(json_text(json_field(answer, "result"), "version"), FARBLOCK_VERSION);
	assert_string_equal(json_text(answer, "jsonrpc"), "2.0");
}

static void what_is_no_request_gets_the_standard_error(void **state)
{
	static const struct {
		const char *request;
		int code;
		// clang-format off
	} rows[] = {
		{ "{", -32700 },
		{ "", -32700 },
		{ "\"x\"", -32600 },
		{ "{}", -32600 },
		{ "[]", -32600 },
		{ "{\"id\":1,\"method\":\"version\"}", -32600 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"version\"}", -32600 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"none\"}", -32601 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"version\",\"params\":[1]}", -32602 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"version\",\"params\":{\"x\":1}}",
		  -32602 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tree.info\"}", -32602 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tree.batch\",\"params\":"
		  "{\"commands\":[]}}",
		  -32000 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tree.batch\",\"params\":"
		  "{\"commands\":[{\"path\":\"/\"}]}}",
		  -32000 },
		{
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tree.info\",\"params\":{\"path\":1}}",
		  -32602 },
	};
	// clang-format on
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_non_null(ask(rows[i].request));
		assert_int_equal(code(), rows[i].code);
		assert_true(*json_text(json_field(answer, "error"), "message"));
	}
}

static void a_notification_gets_no_answer_but_is_done(void **state)
{
	stops = 0;
	assert_null(ask("{\"jsonrpc\":\"2.0\",\"method\":\"daemon.stop\"}"));
	assert_int_equal(stops, 1);
}

static void a_batch_gets_an_answer_each(void **state)
{
	ask("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"version\"}, 5,"
	    " {\"jsonrpc\":\"2.0\",\"method\":\"version\"},"
	    " {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"version\"}]");
	assert_int_equal(json_object_array_length(answer), 3);
	assert_null(ask("[{\"jsonrpc\":\"2.0\",\"method\":\"version\"}]"));
}

static void a_failure_carries_the_name_of_its_errno(void **state)
{
	ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"stats.get\"}");
	assert_int_equal(code(), -32000);
	assert_string_equal(json_text(json_field(json_field(answer, "error"), "data"), "errno"),
			    "EAGAIN");
}

static void those_who_may_only_look_call_nothing_else(void **state)
{
	stops = 0;
	ask_as(false, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.stop\"}");
	assert_string_equal(json_text(json_field(json_field(answer, "error"), "data"), "errno"),
			    "EPERM");
	assert_int_equal(stops, 0);
	ask_as(false, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"version\"}");
	assert_non_null(json_field(answer, "result"));
}

static int teardown(void **state)
{
	json_object_put(answer);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_gets_its_result_and_id),
		cmocka_unit_test(what_is_no_request_gets_the_standard_error),
		cmocka_unit_test(a_notification_gets_no_answer_but_is_done),
		cmocka_unit_test(a_batch_gets_an_answer_each),
		cmocka_unit_test(a_failure_carries_the_name_of_its_errno),
		cmocka_unit_test(those_who_may_only_look_call_nothing_else),
	};
	return cmocka_run_group_tests(tests, NULL, teardown);
}
