// SPDX-License-Identifier: BSD-2-Clause
// LUN addresses.
#include "target/scsi/lun_map.h"
#include "target/scsi/scsi_test.h"

static uint64_t decode(uint8_t a, uint8_t d)
{
	return lun_decode((uint8_t[8]){ a, d });
}

static void peripheral_addresses_are_numbers_below_256(void **state)
{
	assert_int_equal(decode(0, 0), 0);
	assert_int_equal(decode(0, 255), 255);
}

static void flat_addresses_reach_16383(void **state)
{
	assert_int_equal(decode(0x40, 5), 5);
	assert_int_equal(decode(0x41, 0), 256);
	assert_int_equal(decode(0x7f, 0xff), 16383);
}

static void another_bus_is_no_address_of_ours(void **state)
{
	assert_true(decode(1, 0) == UINT64_MAX);
}

static void logical_unit_and_extended_addressing_are_not_ours(void **state)
{
	assert_true(decode(0x80, 0) == UINT64_MAX);
	assert_true(decode(0xc1, 1) == UINT64_MAX); // a well-known logical unit
}

static void a_second_level_is_no_address_of_ours(void **state)
{
	assert_true(lun_decode((uint8_t[8]){ 0, 1, 0, 1 }) == UINT64_MAX);
	assert_true(lun_decode((uint8_t[8]){ 0, 1, 0, 0, 0, 0, 0, 1 }) == UINT64_MAX);
}

static void numbers_survive_encoding(void **state)
{
	for (unsigned i = 0; i < 16384; i++) {
		uint8_t a[8];
		lun_encode(a, (uint16_t)i);
		assert_int_equal(lun_decode(a), i);
	}
}

static void numbers_below_256_are_encoded_as_peripheral(void **state)
{
	uint8_t a[8], expected[8] = { 0, 200 };
	lun_encode(a, 200);
	assert_memory_equal(a, expected, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(peripheral_addresses_are_numbers_below_256),
		T(flat_addresses_reach_16383),
		T(another_bus_is_no_address_of_ours),
		T(logical_unit_and_extended_addressing_are_not_ours),
		T(a_second_level_is_no_address_of_ours),
		T(numbers_survive_encoding),
		T(numbers_below_256_are_encoded_as_peripheral),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
