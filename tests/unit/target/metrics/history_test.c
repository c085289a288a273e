// SPDX-License-Identifier: BSD-2-Clause
// target/metrics/history.c: the ring of rates.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <json-c/json.h>

#include "target/metrics/history.h"

#define SECOND UINT64_C(1000000000)

static struct history h;

static int begin(void **state)
{
	memset(&h, 0, sizeof h);
	return 0;
}

static void total(uint64_t bytes, uint64_t at_ns)
{
	history_add(&h, &(struct history_sample){ .read_bytes = bytes }, at_ns);
}

static void reads_are(const char *expected)
{
	struct json_object *o = history_json(&h);
	assert_string_equal(json_object_to_json_string_ext(json_object_object_get(o, "read"),
							   JSON_C_TO_STRING_PLAIN),
			    expected);
	json_object_put(o);
}

static void one_total_has_no_rate(void **state)
{
	reads_are("[]");
	total(1000, SECOND);
	reads_are("[]");
}

static void rates_follow_the_time_that_passed(void **state)
{
	total(0, SECOND);
	total(1000, 3 * SECOND);
	total(4000, 6 * SECOND);
	reads_are("[500,1000]");
}

static void a_deleted_disk_counts_as_nothing(void **state)
{
	total(5000, SECOND);
	total(100, 2 * SECOND);
	total(200, 3 * SECOND);
	reads_are("[0,100]");
}

static void a_full_ring_loses_its_oldest_rate(void **state)
{
	uint64_t bytes = 0;
	for (uint64_t i = 0; i <= HISTORY_SAMPLES + 1; i++)
		total(bytes += i, (i + 1) * SECOND);
	struct json_object *o = history_json(&h), *list = json_object_object_get(o, "read");
	assert_int_equal(json_object_array_length(list), HISTORY_SAMPLES);
	assert_int_equal(json_object_get_int(json_object_array_get_idx(list, 0)), 2);
	assert_int_equal(json_object_get_int(json_object_array_get_idx(list, HISTORY_SAMPLES - 1)),
			 HISTORY_SAMPLES + 1);
	json_object_put(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_total_has_no_rate, begin),
		cmocka_unit_test_setup(rates_follow_the_time_that_passed, begin),
		cmocka_unit_test_setup(a_deleted_disk_counts_as_nothing, begin),
		cmocka_unit_test_setup(a_full_ring_loses_its_oldest_rate, begin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
