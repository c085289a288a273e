// SPDX-License-Identifier: BSD-2-Clause
// COMPARE AND WRITE, ORWRITE and WRITE ATOMIC(16): what they write, report and refuse. That
// they are atomic is in atomicity_test.c.
#include "target/scsi/sbc/sbc_test.h"

static uint8_t data[2 * 256 * ST_BLOCK];

static uint8_t caw_len(uint64_t lba, uint8_t blocks, uint32_t len)
{
	uint8_t cdb[16] = { 0x89 };
	put_be64(cdb + 2, lba);
	cdb[13] = blocks;
	return st_out(cdb, 16, data, len);
}

static uint8_t caw(uint64_t lba, uint8_t blocks, uint8_t compare, uint8_t with)
{
	uint32_t half = blocks * ST_BLOCK;
	memset(data, compare, half);
	memset(data + half, with, half);
	return caw_len(lba, blocks, 2 * half);
}

static void equal_blocks_are_replaced(void **state)
{
	st_fill(0, 16, 'a');
	assert_int_equal(caw(4, 8, 'a', 'b'), STATUS_GOOD);
	st_expect(0, 4, 'a');
	st_expect(4, 8, 'b');
	st_expect(12, 4, 'a');
}

static void the_longest_compare_and_write_works(void **state)
{
	st_fill(0, 256, 'a');
	assert_int_equal(caw(0, 255, 'a', 'b'), STATUS_GOOD);
	st_expect(0, 255, 'b');
	st_expect(255, 1, 'a');
}

static void a_miscompare_tells_the_byte_and_changes_nothing(void **state)
{
	st_fill(0, 16, 'a');
	memset(data, 'a', 8 * ST_BLOCK);
	memset(data + 8 * ST_BLOCK, 'b', 8 * ST_BLOCK);
	data[5 * ST_BLOCK + 17] = 'c';
	st_refused(caw_len(0, 8, 16 * ST_BLOCK), SENSE_MISCOMPARE);
	assert_int_equal(st_information(), 5 * ST_BLOCK + 17);
	st_expect(0, 16, 'a');
}

static void compare_and_write_of_zero_blocks_is_good(void **state)
{
	assert_int_equal(caw_len(0, 0, 0), STATUS_GOOD);
	assert_int_equal(caw_len(0, 0, ST_BLOCK), STATUS_GOOD);
}

static void compare_and_write_above_the_limit_is_refused(void **state)
{
	st_lu()->attr.max_caw_blocks = 2;
	st_fill(0, 4, 'a');
	assert_int_equal(caw(0, 2, 'a', 'b'), STATUS_GOOD);
	st_refused(caw(0, 3, 'a', 'b'), SENSE_INVALID_FIELD_CDB);
}

static void a_count_that_wrapped_in_its_byte_is_refused(void **state)
{
	st_refused(caw_len(0, 0, 2 * 256 * ST_BLOCK), SENSE_INVALID_FIELD_CDB);
}

static void compare_and_write_with_the_wrong_amount_of_data_is_refused(void **state)
{
	st_refused(caw_len(0, 1, 4 * ST_BLOCK), SENSE_INVALID_FIELD_IU);
	st_refused(caw_len(0, 3, 4 * ST_BLOCK), SENSE_INVALID_FIELD_IU);
}

static void compare_and_write_beyond_the_end_is_refused(void **state)
{
	st_refused(caw(ST_BLOCKS - 1, 2, 0, 'b'), SENSE_LBA_RANGE);
}

static void compare_and_write_can_be_switched_off(void **state)
{
	st_lu()->attr.emulate_caw = 0;
	st_refused(caw(0, 1, 0, 'b'), SENSE_INVALID_OPCODE);
}

static uint8_t orwrite(uint64_t lba, uint32_t blocks, uint8_t byte)
{
	uint8_t cdb[16] = { 0x8b };
	put_be64(cdb + 2, lba);
	put_be32(cdb + 10, blocks);
	uint8_t *out = test_malloc((size_t)blocks * ST_BLOCK + 1);
	memset(out, byte, (size_t)blocks * ST_BLOCK);
	uint8_t status = st_out(cdb, 16, out, blocks * ST_BLOCK);
	test_free(out);
	return status;
}

static void orwrite_sets_bits_and_clears_none(void **state)
{
	st_fill(0, 16, 0xa5);
	assert_int_equal(orwrite(4, 8, 0x0f), STATUS_GOOD);
	st_expect(0, 4, 0xa5);
	st_expect(4, 8, 0xaf);
	st_expect(12, 4, 0xa5);
}

static void orwrite_of_several_slices_reaches_every_block(void **state)
{
	st_fill(0, 1300, 0x10);
	assert_int_equal(orwrite(0, 1280, 0x01), STATUS_GOOD);
	st_expect(0, 1280, 0x11);
	st_expect(1280, 20, 0x10);
}

static void orwrite_of_zero_blocks_is_good(void **state)
{
	assert_int_equal(orwrite(0, 0, 1), STATUS_GOOD);
}

static void orwrite_beyond_the_end_is_refused(void **state)
{
	st_refused(orwrite(ST_BLOCKS - 1, 2, 1), SENSE_LBA_RANGE);
}

static uint8_t atomic_at(uint64_t lba, uint16_t blocks, uint16_t boundary)
{
	uint8_t cdb[16] = { 0x9c };
	put_be64(cdb + 2, lba);
	put_be16(cdb + 10, boundary);
	put_be16(cdb + 12, blocks);
	memset(data, 'w', sizeof data);
	return st_out(cdb, 16, data, (uint32_t)blocks * ST_BLOCK);
}

static void write_atomic_writes(void **state)
{
	st_fill(0, 300, 'a');
	assert_int_equal(atomic_at(10, 256, 0), STATUS_GOOD);
	st_expect(0, 10, 'a');
	st_expect(10, 256, 'w');
	st_expect(266, 34, 'a');
}

static void write_atomic_of_zero_blocks_is_good(void **state)
{
	assert_int_equal(atomic_at(0, 0, 0), STATUS_GOOD);
}

static void write_atomic_with_a_boundary_writes(void **state)
{
	assert_int_equal(atomic_at(3, 32, 8), STATUS_GOOD);
	st_expect(3, 32, 'w');
}

static void write_atomic_above_the_limit_is_refused(void **state)
{
	st_lu()->attr.atomic_write_kib = 4;
	assert_int_equal(atomic_at(0, 8, 0), STATUS_GOOD);
	st_refused(atomic_at(0, 9, 0), SENSE_INVALID_FIELD_CDB);
	st_refused(atomic_at(0, 9, 4), SENSE_INVALID_FIELD_CDB);
	st_refused(atomic_at(0, 8, 9), SENSE_INVALID_FIELD_CDB);
}

static void write_atomic_beyond_the_end_is_refused_even_above_the_limit(void **state)
{
	st_lu()->attr.atomic_write_kib = 4;
	st_refused(atomic_at(ST_BLOCKS - 4, 9, 0), SENSE_LBA_RANGE);
}

static void write_atomic_can_be_switched_off(void **state)
{
	st_lu()->attr.atomic_write_kib = 0;
	st_refused(atomic_at(0, 1, 0), SENSE_INVALID_OPCODE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ST_TEST(equal_blocks_are_replaced),
		ST_TEST(the_longest_compare_and_write_works),
		ST_TEST(a_miscompare_tells_the_byte_and_changes_nothing),
		ST_TEST(compare_and_write_of_zero_blocks_is_good),
		ST_TEST(compare_and_write_above_the_limit_is_refused),
		ST_TEST(a_count_that_wrapped_in_its_byte_is_refused),
		ST_TEST(compare_and_write_with_the_wrong_amount_of_data_is_refused),
		ST_TEST(compare_and_write_beyond_the_end_is_refused),
		ST_TEST(compare_and_write_can_be_switched_off),
		ST_TEST(orwrite_sets_bits_and_clears_none),
		ST_TEST(orwrite_of_several_slices_reaches_every_block),
		ST_TEST(orwrite_of_zero_blocks_is_good),
		ST_TEST(orwrite_beyond_the_end_is_refused),
		ST_TEST(write_atomic_writes),
		ST_TEST(write_atomic_of_zero_blocks_is_good),
		ST_TEST(write_atomic_with_a_boundary_writes),
		ST_TEST(write_atomic_above_the_limit_is_refused),
		ST_TEST(write_atomic_beyond_the_end_is_refused_even_above_the_limit),
		ST_TEST(write_atomic_can_be_switched_off),
	};
	return st_main(tests);
}
