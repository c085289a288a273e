// SPDX-License-Identifier: BSD-2-Clause
// The table of registered memory: what covers an address, and lookups while it changes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "transport/rdma/verbs/mr_table.h"

static struct mr_table table;
static int values[1024];

static int empty(void **state)
{
	mr_table_done(&table);
	return 0;
}

static void *at(uint64_t addr)
{
	return (void *)(uintptr_t)addr;
}

static void add(uint64_t addr, uint64_t len, int value)
{
	assert_int_equal(mr_table_add(&table, at(addr), len, &values[value]), 0);
}

static void an_empty_table_covers_nothing(void **state)
{
	assert_null(mr_table_find(&table, at(0), 0));
	assert_null(mr_table_find(&table, at(4096), 1));
	mr_table_remove(&table, &values[0]);
}

static void a_range_covers_what_lies_inside(void **state)
{
	add(0x1000, 0x1000, 1);
	assert_ptr_equal(mr_table_find(&table, at(0x1000), 0x1000), &values[1]);
	assert_ptr_equal(mr_table_find(&table, at(0x1fff), 1), &values[1]);
	assert_null(mr_table_find(&table, at(0x1fff), 2));
	assert_null(mr_table_find(&table, at(0xfff), 1));
	assert_null(mr_table_find(&table, at(0x2000), 1));
	assert_null(mr_table_find(&table, at(0x1800), UINT64_MAX));
}

static void ranges_are_found_in_whatever_order_they_came(void **state)
{
	for (unsigned i = 0; i < 1000; i++) {
		unsigned k = i * 37 % 1000;
		add(0x100000 + k * 0x1000, 0x800, (int)k);
	}
	for (unsigned k = 0; k < 1000; k++) {
		assert_ptr_equal(mr_table_find(&table, at(0x100000 + k * 0x1000 + 16), 0x700),
				 &values[k]);
		assert_null(mr_table_find(&table, at(0x100000 + k * 0x1000 + 0x800), 1));
	}
}

static void a_removed_range_covers_nothing(void **state)
{
	add(0x1000, 0x1000, 1);
	add(0x2000, 0x1000, 2);
	add(0x3000, 0x1000, 3);
	mr_table_remove(&table, &values[2]);
	assert_null(mr_table_find(&table, at(0x2000), 1));
	assert_ptr_equal(mr_table_find(&table, at(0x1000), 1), &values[1]);
	assert_ptr_equal(mr_table_find(&table, at(0x3000), 1), &values[3]);
}

static void of_overlapping_ranges_one_that_covers_is_found(void **state)
{
	add(0, 0x1100, 1);
	add(0x1000, 0x1100, 2);
	assert_ptr_equal(mr_table_find(&table, at(0xf80), 0x180), &values[1]);
	assert_ptr_equal(mr_table_find(&table, at(0x1000), 0x1000), &values[2]);
}

static void a_range_inside_another_hides_nothing_of_it(void **state)
{
	add(0x10000, 0x10000, 1);
	add(0x11000, 0x100, 2);
	assert_ptr_equal(mr_table_find(&table, at(0x11000), 0x100), &values[2]);
	assert_ptr_equal(mr_table_find(&table, at(0x11080), 0x100), &values[1]);
	assert_ptr_equal(mr_table_find(&table, at(0x18000), 0x100), &values[1]);
}

static bool is_over;

static void *change(void *arg)
{
	for (int round = 0; round < 20000; round++) {
		if (mr_table_add(&table, at(0x1000 + (unsigned)(round % 7) * 0x10000), 0x1000,
				 &values[2]) == 0)
			mr_table_remove(&table, &values[2]);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
	return NULL;
}

static void a_lookup_is_right_while_others_come_and_go(void **state)
{
	pthread_t thread;
	unsigned wrong = 0;

	add(0x25000, 0x1000, 1);
	is_over = false;
	assert_int_equal(pthread_create(&thread, NULL, change, NULL), 0);
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
		wrong += mr_table_find(&table, at(0x25010), 16) != &values[1];
	pthread_join(thread, NULL);
	assert_int_equal(wrong, 0);
}

#define TABLE_TEST(name) cmocka_unit_test_teardown(name, empty)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TABLE_TEST(an_empty_table_covers_nothing),
		TABLE_TEST(a_range_covers_what_lies_inside),
		TABLE_TEST(ranges_are_found_in_whatever_order_they_came),
		TABLE_TEST(a_removed_range_covers_nothing),
		TABLE_TEST(of_overlapping_ranges_one_that_covers_is_found),
		TABLE_TEST(a_range_inside_another_hides_nothing_of_it),
		TABLE_TEST(a_lookup_is_right_while_others_come_and_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
