// SPDX-License-Identifier: BSD-2-Clause
// VERIFY and WRITE AND VERIFY in their three lengths, and PRE-FETCH.
#include "target/scsi/sbc/sbc_test.h"

static uint8_t data[16 * ST_BLOCK];

static uint8_t verify16(uint8_t flags, uint64_t lba, uint32_t blocks, uint32_t len)
{
	uint8_t cdb[16] = { 0x8f, flags };
	put_be64(cdb + 2, lba);
	put_be32(cdb + 10, blocks);
	return st_out(cdb, 16, data, len);
}

static void verify_without_data_reads_the_medium(void **state)
{
	assert_int_equal(verify16(0, 0, 1000, 0), STATUS_GOOD);
}

static void verify_without_bytchk_ignores_data(void **state)
{
	st_fill(0, 16, 'a');
	memset(data, 'b', sizeof data);
	assert_int_equal(verify16(0, 0, 16, sizeof data), STATUS_GOOD);
}

static void verify_with_equal_data_is_good(void **state)
{
	st_fill(0, 16, 'a');
	memset(data, 'a', sizeof data);
	assert_int_equal(verify16(2, 0, 16, sizeof data), STATUS_GOOD);
}

static void verify_with_other_data_tells_the_block(void **state)
{
	st_fill(100, 16, 'a');
	memset(data, 'a', sizeof data);
	data[7 * ST_BLOCK + 3] = 'b';
	st_refused(verify16(2, 100, 16, sizeof data), SENSE_MISCOMPARE);
	assert_int_equal(st_information(), 107);
}

static void verify_compares_one_block_with_every_block(void **state)
{
	st_fill(0, 16, 'a');
	memset(data, 'a', ST_BLOCK);
	assert_int_equal(verify16(6, 0, 16, ST_BLOCK), STATUS_GOOD);
	st_fill(9, 1, 'b');
	st_refused(verify16(6, 0, 16, ST_BLOCK), SENSE_MISCOMPARE);
	assert_int_equal(st_information(), 9);
}

static void verify_with_reserved_bytchk_is_refused(void **state)
{
	st_refused(verify16(4, 0, 1, 0), SENSE_INVALID_FIELD_CDB);
}

static void verify_of_zero_blocks_is_good(void **state)
{
	assert_int_equal(verify16(2, 0, 0, 0), STATUS_GOOD);
}

static void verify_beyond_the_end_is_refused(void **state)
{
	st_refused(verify16(2, ST_BLOCKS - 1, 2, 2 * ST_BLOCK), SENSE_LBA_RANGE);
}

static void verify_10_and_12_compare(void **state)
{
	st_fill(8, 4, 'a');
	uint8_t v10[10] = { 0x2f, 2, BE32(8), 0, 0, 4 };
	uint8_t v12[12] = { 0xaf, 2, BE32(8), BE32(4) };
	memset(data, 'a', sizeof data);
	assert_int_equal(st_out(v10, 10, data, 4 * ST_BLOCK), STATUS_GOOD);
	assert_int_equal(st_out(v12, 12, data, 4 * ST_BLOCK), STATUS_GOOD);
	data[0] = 'b';
	st_refused(st_out(v10, 10, data, 4 * ST_BLOCK), SENSE_MISCOMPARE);
	st_refused(st_out(v12, 12, data, 4 * ST_BLOCK), SENSE_MISCOMPARE);
}

static void write_and_verify_writes_in_every_length(void **state)
{
	uint8_t w10[10] = { 0x2e, 2, BE32(8), 0, 0, 4 };
	uint8_t w12[12] = { 0xae, 0, BE32(16), BE32(4) };
	uint8_t w16[16] = { 0x8e, 2, BE64(24), BE32(4) };
	memset(data, 'v', sizeof data);
	assert_int_equal(st_out(w10, 10, data, 4 * ST_BLOCK), STATUS_GOOD);
	assert_int_equal(st_out(w12, 12, data, 4 * ST_BLOCK), STATUS_GOOD);
	assert_int_equal(st_out(w16, 16, data, 4 * ST_BLOCK), STATUS_GOOD);
	st_expect(8, 4, 'v');
	st_expect(16, 4, 'v');
	st_expect(24, 4, 'v');
}

static void write_and_verify_with_reserved_bytchk_is_refused(void **state)
{
	uint8_t cdb[10] = { 0x2e, 6, BE32(8), 0, 0, 1 };
	st_refused(st_out(cdb, 10, data, ST_BLOCK), SENSE_INVALID_FIELD_CDB);
}

static void prefetch_answers_good_and_checks_the_range(void **state)
{
	uint8_t p10[10] = { 0x34, 0, BE32(0), 0, 0, 8 }, p16[16] = { 0x90, 2, BE64(8), BE32(0) };
	assert_int_equal(st_out(p10, 10, NULL, 0), STATUS_GOOD);
	assert_int_equal(st_out(p16, 16, NULL, 0), STATUS_GOOD);
	put_be32(p10 + 2, ST_BLOCKS + 1);
	put_be64(p16 + 2, UINT64_MAX);
	st_refused(st_out(p10, 10, NULL, 0), SENSE_LBA_RANGE);
	st_refused(st_out(p16, 16, NULL, 0), SENSE_LBA_RANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ST_TEST(verify_without_data_reads_the_medium),
		ST_TEST(verify_without_bytchk_ignores_data),
		ST_TEST(verify_with_equal_data_is_good),
		ST_TEST(verify_with_other_data_tells_the_block),
		ST_TEST(verify_compares_one_block_with_every_block),
		ST_TEST(verify_with_reserved_bytchk_is_refused),
		ST_TEST(verify_of_zero_blocks_is_good),
		ST_TEST(verify_beyond_the_end_is_refused),
		ST_TEST(verify_10_and_12_compare),
		ST_TEST(write_and_verify_writes_in_every_length),
		ST_TEST(write_and_verify_with_reserved_bytchk_is_refused),
		ST_TEST(prefetch_answers_good_and_checks_the_range),
	};
	return st_main(tests);
}
