// SPDX-License-Identifier: BSD-2-Clause
// A histogram of latencies: bounded error, exact ends, merging.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "initiator/bench/histogram.h"

static void a_percentile_is_exact_to_3_percent(void **state)
{
	for (double ns = 1; ns < 3.6e12; ns *= 1.37) {
		struct histogram h = { 0 };
		histogram_add(&h, 1);
		for (int i = 0; i < 99; i++)
			histogram_add(&h, (uint64_t)ns);
		double us = (double)(uint64_t)ns / 1e3, told = histogram_us(&h, 0.5);
		assert_true(told <= us && told >= us * (1 - 1.0 / 32));
	}
}

static void the_share_is_that_of_the_commands_below(void **state)
{
	struct histogram h = { 0 };
	for (uint64_t i = 0; i < 10000; i++)
		histogram_add(&h, (i + 1) * 1000);
	static const double shares[] = { 0.5, 0.9, 0.99, 0.999, 0.9999 };
	for (unsigned i = 0; i < sizeof shares / sizeof *shares; i++) {
		double us = histogram_us(&h, shares[i]), right = shares[i] * 10000;
		assert_true(us > right * 0.96 && us < right * 1.01);
	}
}

static void smallest_largest_and_mean_are_exact(void **state)
{
	struct histogram h = { 0 };
	histogram_add(&h, 1000001);
	histogram_add(&h, 3000003);
	assert_int_equal(h.min_ns, 1000001);
	assert_int_equal(h.max_ns, 3000003);
	assert_true(histogram_mean_us(&h) == 2000.002);
	assert_true(histogram_us(&h, 1) == 3000.003);
	assert_true(histogram_us(&h, 0) == 1000.001);
}

static void an_empty_one_has_zeros(void **state)
{
	struct histogram h = { 0 };
	assert_true(histogram_us(&h, 0.99) == 0 && histogram_us(&h, 1) == 0);
	assert_true(histogram_mean_us(&h) == 0);
}

static void merged_ones_are_as_one(void **state)
{
	struct histogram all = { 0 }, half[2] = { 0 }, merged = { 0 };
	for (uint64_t i = 0; i < 1000; i++) {
		histogram_add(&all, i * i);
		histogram_add(&half[i & 1], i * i);
	}
	histogram_merge(&merged, &half[1]);
	histogram_merge(&merged, &half[0]);
	assert_memory_equal(&merged, &all, sizeof all);
}

static void the_longest_latency_has_a_bucket(void **state)
{
	struct histogram h = { 0 };
	histogram_add(&h, UINT64_MAX);
	assert_int_equal(h.buckets[HISTOGRAM_BUCKETS - 1], 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_percentile_is_exact_to_3_percent),
		cmocka_unit_test(the_share_is_that_of_the_commands_below),
		cmocka_unit_test(smallest_largest_and_mean_are_exact),
		cmocka_unit_test(an_empty_one_has_zeros),
		cmocka_unit_test(merged_ones_are_as_one),
		cmocka_unit_test(the_longest_latency_has_a_bucket),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
