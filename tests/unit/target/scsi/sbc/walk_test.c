// SPDX-License-Identifier: BSD-2-Clause
// The pure helpers over scatter lists; the walk itself is tested by the commands that use it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "target/scsi/sbc/walk.h"

static uint8_t a[] = "abcd", b[] = "efg", c[] = "hijkl";
static struct sg list[] = {
	{a,  4, NULL},
	{ b, 3, NULL},
	{ c, 5, NULL}
};

static size_t compare(uint64_t offset, const char *with)
{
	return sbc_sg_compare(list, 3, offset, (const uint8_t *)with, strlen(with));
}

static void compare_crosses_entries(void **state)
{
	assert_int_equal(compare(0, "abcdefghijkl"), 12);
}

static void compare_starts_inside_an_entry(void **state)
{
	assert_int_equal(compare(5, "fghij"), 5);
}

static void compare_finds_the_first_difference(void **state)
{
	assert_int_equal(compare(2, "cdefXhi"), 4);
}

static void compare_stops_at_a_difference_at_the_end_of_an_entry(void **state)
{
	// The next entry would match again.
	assert_int_equal(compare(0, "abcXefg"), 3);
}

static void compare_past_the_list_finds_nothing_equal(void **state)
{
	assert_int_equal(compare(12, "a"), 0);
}

static void slice_keeps_addresses_and_cuts_both_ends(void **state)
{
	struct sg out[3];
	assert_int_equal(sbc_sg_slice(out, list, 3, 2, 7), 3);
	assert_ptr_equal(out[0].addr, a + 2);
	assert_int_equal(out[0].len, 2);
	assert_ptr_equal(out[1].addr, b);
	assert_int_equal(out[1].len, 3);
	assert_ptr_equal(out[2].addr, c);
	assert_int_equal(out[2].len, 2);
}

static void slice_skips_whole_entries(void **state)
{
	struct sg out[3];
	assert_int_equal(sbc_sg_slice(out, list, 3, 7, 5), 1);
	assert_ptr_equal(out[0].addr, c);
	assert_int_equal(out[0].len, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compare_crosses_entries),
		cmocka_unit_test(compare_starts_inside_an_entry),
		cmocka_unit_test(compare_finds_the_first_difference),
		cmocka_unit_test(compare_stops_at_a_difference_at_the_end_of_an_entry),
		cmocka_unit_test(compare_past_the_list_finds_nothing_equal),
		cmocka_unit_test(slice_keeps_addresses_and_cuts_both_ends),
		cmocka_unit_test(slice_skips_whole_entries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
