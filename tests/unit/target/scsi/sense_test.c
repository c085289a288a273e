// SPDX-License-Identifier: BSD-2-Clause
// Sense data encoding.
#include "target/scsi/scsi_test.h"

static uint8_t s[SENSE_MAX];

static void fixed_format_carries_key_and_codes(void **state)
{
	assert_int_equal(sense_encode(s, SENSE_LBA_RANGE, NULL, false), 18);
	assert_int_equal(s[0], 0x70);
	assert_int_equal(s[2], SK_ILLEGAL_REQUEST);
	assert_int_equal(s[7], 10);
	assert_int_equal(s[12], 0x21);
	assert_int_equal(s[13], 0x00);
}

static void descriptor_format_carries_key_and_codes(void **state)
{
	assert_int_equal(sense_encode(s, SENSE_NOT_READY_SANITIZE, NULL, true), 8);
	assert_int_equal(s[0], 0x72);
	assert_int_equal(s[1], SK_NOT_READY);
	assert_int_equal(s[2], 0x04);
	assert_int_equal(s[3], 0x1b);
	assert_int_equal(s[7], 0);
}

static void fixed_information_is_valid(void **state)
{
	struct sense_extra x = { .has_information = true, .information = 0x01020304 };
	sense_encode(s, SENSE_READ_ERROR, &x, false);
	assert_int_equal(s[0], 0xf0);
	assert_int_equal(get_be32(s + 3), 0x01020304);
}

static void information_too_long_for_fixed_format_is_not_valid(void **state)
{
	struct sense_extra x = { .has_information = true, .information = 1ull << 32 };
	sense_encode(s, SENSE_READ_ERROR, &x, false);
	assert_int_equal(s[0], 0x70);
	assert_int_equal(get_be32(s + 3), 0);
}

static void descriptor_information_has_64_bits(void **state)
{
	struct sense_extra x = { .has_information = true, .information = 0x0102030405060708 };
	assert_int_equal(sense_encode(s, SENSE_MISCOMPARE, &x, true), 20);
	assert_int_equal(s[7], 12);
	assert_int_equal(s[8], 0x00);
	assert_int_equal(s[9], 0x0a);
	assert_int_equal(s[10], 0x80);
	assert_true(get_be64(s + 12) == 0x0102030405060708);
}

static void a_field_pointer_says_byte_and_bit_of_the_cdb(void **state)
{
	struct sense_extra x = { .has_field_pointer = true,
				 .is_field_in_cdb = true,
				 .field_byte = 258,
				 .field_bit = 5 };
	sense_encode(s, SENSE_INVALID_FIELD_CDB, &x, false);
	assert_int_equal(s[15], 0x80 | 0x40 | 0x08 | 5);
	assert_int_equal(get_be16(s + 16), 258);
}

static void a_field_pointer_without_bit_leaves_bpv_clear(void **state)
{
	struct sense_extra x = { .has_field_pointer = true, .field_byte = 3, .field_bit = -1 };
	sense_encode(s, SENSE_INVALID_FIELD_PARAM, &x, false);
	assert_int_equal(s[15], 0x80);
}

static void both_descriptors_stand_one_after_the_other(void **state)
{
	struct sense_extra x = { .has_information = true,
				 .has_progress = true,
				 .progress = 0x4000 };
	assert_int_equal(sense_encode(s, SENSE_NOT_READY_SANITIZE, &x, true), 28);
	assert_int_equal(s[7], 20);
	assert_int_equal(s[20], 0x02);
	assert_int_equal(s[21], 0x06);
	assert_int_equal(s[24], 0x80);
	assert_int_equal(get_be16(s + 25), 0x4000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(fixed_format_carries_key_and_codes),
		T(descriptor_format_carries_key_and_codes),
		T(fixed_information_is_valid),
		T(information_too_long_for_fixed_format_is_not_valid),
		T(descriptor_information_has_64_bits),
		T(a_field_pointer_says_byte_and_bit_of_the_cdb),
		T(a_field_pointer_without_bit_leaves_bpv_clear),
		T(both_descriptors_stand_one_after_the_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
