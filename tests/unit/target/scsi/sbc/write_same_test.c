// SPDX-License-Identifier: BSD-2-Clause
// WRITE SAME(10), (16), (32): one block many times, by pattern, by zeroes and by unmapping.
#include "target/scsi/sbc/sbc_test.h"

enum { NDOB = 1, LBDATA = 2, PBDATA = 4, UNMAP = 8, ANCHOR = 16 };

static uint8_t same16(uint8_t flags, uint64_t lba, uint32_t blocks, const void *out, uint32_t len)
{
	uint8_t cdb[16] = { 0x93, flags };
	put_be64(cdb + 2, lba);
	put_be32(cdb + 10, blocks);
	return st_out(cdb, 16, out, len);
}

static uint8_t same16_byte(uint8_t flags, uint64_t lba, uint32_t blocks, uint8_t byte)
{
	uint8_t block[ST_BLOCK];
	memset(block, byte, sizeof block);
	return same16(flags, lba, blocks, block, sizeof block);
}

static void the_block_is_written_to_every_block_and_no_other(void **state)
{
	st_fill(0, 32, 'a');
	assert_int_equal(same16_byte(0, 8, 16, 'b'), STATUS_GOOD);
	st_expect(0, 8, 'a');
	st_expect(8, 16, 'b');
	st_expect(24, 8, 'a');
}

static void a_block_whose_bytes_differ_is_repeated_as_it_is(void **state)
{
	uint8_t block[ST_BLOCK], back[4 * ST_BLOCK];
	for (unsigned i = 0; i < ST_BLOCK; i++)
		block[i] = (uint8_t)(i * 7 + 1);
	assert_int_equal(same16(0, 100, 4, block, ST_BLOCK), STATUS_GOOD);
	st_read(100, 4, back);
	for (unsigned i = 0; i < 4; i++)
		assert_memory_equal(back + i * ST_BLOCK, block, ST_BLOCK);
}

static void many_slices_are_written_to_the_last_block(void **state)
{
	// Two full writes of the repeated buffer and a bit.
	uint32_t blocks = 2 * 2048 + 3;
	assert_int_equal(same16_byte(0, 5, blocks, 'c'), STATUS_GOOD);
	st_expect(5, 1, 'c');
	st_expect(5 + 2047, 3, 'c');
	st_expect(5 + blocks - 1, 1, 'c');
	st_expect(5 + blocks, 1, 0);
}

static void zeroes_are_written(void **state)
{
	st_fill(0, 32, 'a');
	assert_int_equal(same16_byte(0, 8, 16, 0), STATUS_GOOD);
	st_expect(0, 8, 'a');
	st_expect(8, 16, 0);
	st_expect(24, 8, 'a');
}

static void unmapping_with_zeroes_reads_as_zeroes(void **state)
{
	st_fill(0, 32, 'a');
	assert_int_equal(same16_byte(UNMAP, 8, 16, 0), STATUS_GOOD);
	st_expect(8, 16, 0);
	st_expect(24, 8, 'a');
}

static void unmapping_with_another_block_writes_it(void **state)
{
	assert_int_equal(same16_byte(UNMAP, 8, 16, 'x'), STATUS_GOOD);
	st_expect(8, 16, 'x');
}

static void ndob_writes_zeroes_without_data(void **state)
{
	st_fill(0, 32, 'a');
	assert_int_equal(same16(NDOB, 8, 16, NULL, 0), STATUS_GOOD);
	st_expect(8, 16, 0);
	st_expect(24, 8, 'a');
}

static void ten_byte_form_writes(void **state)
{
	uint8_t block[ST_BLOCK], cdb[10] = { 0x41, 0, BE32(8), 0, 0, 16 };
	memset(block, 'd', sizeof block);
	assert_int_equal(st_out(cdb, 10, block, sizeof block), STATUS_GOOD);
	st_expect(8, 16, 'd');
}

static void zero_blocks_are_refused(void **state)
{
	st_refused(same16_byte(0, 0, 0, 'a'), SENSE_INVALID_FIELD_CDB);
}

static void more_than_the_limit_is_refused(void **state)
{
	st_lu()->attr.max_write_same_len = 16;
	assert_int_equal(same16_byte(0, 0, 16, 'a'), STATUS_GOOD);
	st_refused(same16_byte(0, 0, 17, 'a'), SENSE_INVALID_FIELD_CDB);
}

static void beyond_the_end_is_refused(void **state)
{
	st_refused(same16_byte(0, ST_BLOCKS - 1, 2, 'a'), SENSE_LBA_RANGE);
	st_refused(same16_byte(0, UINT64_MAX, 1, 'a'), SENSE_LBA_RANGE);
}

static void too_little_data_is_refused(void **state)
{
	uint8_t half[ST_BLOCK / 2] = { 0 };
	st_refused(same16(UNMAP, 0, 1, half, sizeof half), SENSE_INVALID_FIELD_IU);
}

static void too_much_data_is_refused(void **state)
{
	uint8_t two[2 * ST_BLOCK] = { 0 };
	st_refused(same16(UNMAP, 0, 1, two, sizeof two), SENSE_INVALID_FIELD_IU);
}

static void anchoring_is_refused_with_and_without_unmap(void **state)
{
	st_refused(same16_byte(ANCHOR, 0, 1, 0), SENSE_INVALID_FIELD_CDB);
	st_refused(same16_byte(ANCHOR | UNMAP, 0, 1, 0), SENSE_INVALID_FIELD_CDB);
}

static void obsolete_and_protection_bits_are_refused(void **state)
{
	st_refused(same16_byte(LBDATA, 0, 1, 0), SENSE_INVALID_FIELD_CDB);
	st_refused(same16_byte(PBDATA, 0, 1, 0), SENSE_INVALID_FIELD_CDB);
	st_refused(same16_byte(0x20, 0, 1, 0), SENSE_INVALID_FIELD_CDB);
}

static void unmapping_is_refused_where_vpd_b2_does_not_offer_it(void **state)
{
	st_lu()->attr.emulate_tpws = 0;
	st_refused(same16_byte(UNMAP, 0, 1, 0), SENSE_INVALID_FIELD_CDB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ST_TEST(the_block_is_written_to_every_block_and_no_other),
		ST_TEST(a_block_whose_bytes_differ_is_repeated_as_it_is),
		ST_TEST(many_slices_are_written_to_the_last_block),
		ST_TEST(zeroes_are_written),
		ST_TEST(unmapping_with_zeroes_reads_as_zeroes),
		ST_TEST(unmapping_with_another_block_writes_it),
		ST_TEST(ndob_writes_zeroes_without_data),
		ST_TEST(ten_byte_form_writes),
		ST_TEST(zero_blocks_are_refused),
		ST_TEST(more_than_the_limit_is_refused),
		ST_TEST(beyond_the_end_is_refused),
		ST_TEST(too_little_data_is_refused),
		ST_TEST(too_much_data_is_refused),
		ST_TEST(anchoring_is_refused_with_and_without_unmap),
		ST_TEST(obsolete_and_protection_bits_are_refused),
		ST_TEST(unmapping_is_refused_where_vpd_b2_does_not_offer_it),
	};
	return st_main(tests);
}
