// SPDX-License-Identifier: BSD-2-Clause
// cli/top/rates.c: rates and percentiles from counters.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/top/rates.h"

static struct rate between(const char *now, const char *before, double seconds)
{
	struct json_object *a = json_tokener_parse(now);
	struct json_object *b = before ? json_tokener_parse(before) : NULL;
	struct rate r = { 0 };
	rate_add(&r, a, b, seconds);
	rate_finish(&r);
	json_object_put(a);
	json_object_put(b);
	return r;
}

static void what_happened_between_counts(void **state)
{
	struct rate r = between("{\"read\": {\"commands\": 30, \"bytes\": 5000},"
				" \"write\": {\"commands\": 7, \"bytes\": 900},"
				" \"other\": {\"commands\": 5, \"bytes\": 36}}",
				"{\"read\": {\"commands\": 10, \"bytes\": 1000},"
				" \"write\": {\"commands\": 7, \"bytes\": 900},"
				" \"other\": {\"commands\": 1, \"bytes\": 0}}",
				2);
	assert_true(r.iops == 12 && r.read == 2000 && r.written == 0);
}

static void counters_that_went_back_count_nothing(void **state)
{
	struct rate r = between("{\"read\": {\"commands\": 1, \"latency_log2_us\": [1]}}",
				"{\"read\": {\"commands\": 9, \"latency_log2_us\": [9]}}", 1);
	assert_true(r.iops == 0 && r.p50 < 0);
	r = between("{\"read\": {\"commands\": 1}}", NULL, 0);
	assert_true(r.iops == 0);
	r = between("[]", "\"x\"", 1);
	assert_true(r.iops == 0);
}

static void percentiles_lie_in_their_bucket(void **state)
{
	// 98 commands of 8 to 16 us, 2 of 512 to 1024 us.
	struct rate r =
		between("{\"read\": {\"latency_log2_us\": [0,0,0,0,98,0,0,0,0,0,2]}}", NULL, 1);
	assert_true(r.p50 > 8 && r.p50 < 16);
	assert_true(r.p99 > 512 && r.p99 < 1024);
}

static void an_idle_object_has_no_latency(void **state)
{
	char text[16];
	struct rate r = between("{\"read\": {\"latency_log2_us\": [0,0]}}", NULL, 1);
	assert_true(r.p50 < 0 && r.p99 < 0);
	rate_time_text(r.p99, text);
	assert_string_equal(text, "-");
}

static void texts_are_short(void **state)
{
	char text[16];
	rate_count_text(99.6, text);
	assert_string_equal(text, "100");
	rate_count_text(725400, text);
	assert_string_equal(text, "725.4k");
	rate_bytes_text(5.7e9, text);
	assert_string_equal(text, "5.70 GB/s");
	rate_bytes_text(1e18, text);
	assert_string_equal(text, "1000000000.00 G"); // cut, not overrun
	rate_time_text(1500, text);
	assert_string_equal(text, "1.5 ms");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_happened_between_counts),
		cmocka_unit_test(counters_that_went_back_count_nothing),
		cmocka_unit_test(percentiles_lie_in_their_bucket),
		cmocka_unit_test(an_idle_object_has_no_latency),
		cmocka_unit_test(texts_are_short),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
