// SPDX-License-Identifier: BSD-2-Clause
// UNMAP: what it frees, and what it refuses before anything changes.
#include "target/scsi/sbc/sbc_test.h"

#define DESC(lba, blocks) BE64(lba), BE32(blocks), 0, 0, 0, 0

static uint8_t unmap(const uint8_t *params, uint32_t len)
{
	uint8_t cdb[10] = { 0x42 };
	put_be16(cdb + 7, (uint16_t)len);
	return st_out(cdb, 10, params, len);
}

#define UNMAP(...)                                                                                 \
	({                                                                                         \
		uint8_t p_[] = { 0, 0, 0, 0, 0, 0, 0, 0, __VA_ARGS__ };                            \
		put_be16(p_, sizeof p_ - 2);                                                       \
		put_be16(p_ + 2, sizeof p_ - 8);                                                   \
		unmap(p_, sizeof p_);                                                              \
	})

static void unmapped_blocks_read_as_zeroes(void **state)
{
	st_fill(0, 64, 'a');
	assert_int_equal(UNMAP(DESC(8, 16)), STATUS_GOOD);
	st_expect(0, 8, 'a');
	st_expect(8, 16, 0);
	st_expect(24, 40, 'a');
}

static void many_descriptors_are_all_served(void **state)
{
	st_fill(0, 64, 'a');
	assert_int_equal(UNMAP(DESC(0, 1), DESC(2, 1), DESC(4, 2), DESC(60, 4)), STATUS_GOOD);
	st_expect(0, 1, 0);
	st_expect(1, 1, 'a');
	st_expect(2, 1, 0);
	st_expect(3, 1, 'a');
	st_expect(4, 2, 0);
	st_expect(6, 54, 'a');
	st_expect(60, 4, 0);
}

static void a_full_list_of_descriptors_is_served(void **state)
{
	static uint8_t p[8 + 16 * 1024];
	memset(p, 0, sizeof p);
	put_be16(p, sizeof p - 2);
	put_be16(p + 2, sizeof p - 8);
	for (unsigned i = 0; i < 1024; i++) {
		put_be64(p + 8 + 16 * i, 2 * i);
		put_be32(p + 8 + 16 * i + 8, 1);
	}
	st_fill(0, 2048, 'a');
	assert_int_equal(unmap(p, sizeof p), STATUS_GOOD);
	for (unsigned i = 0; i < 2048; i += 97)
		st_expect(i, 1, i % 2 ? 'a' : 0);
}

static void an_empty_list_is_good(void **state)
{
	assert_int_equal(unmap(NULL, 0), STATUS_GOOD);
	assert_int_equal(UNMAP(), STATUS_GOOD);
}

static void zero_blocks_at_the_end_of_the_medium_are_good(void **state)
{
	assert_int_equal(UNMAP(DESC(ST_BLOCKS, 0)), STATUS_GOOD);
}

static void zero_blocks_past_the_end_are_refused(void **state)
{
	st_refused(UNMAP(DESC(ST_BLOCKS + 1, 0)), SENSE_LBA_RANGE);
}

static void nothing_is_unmapped_when_a_later_descriptor_is_out_of_range(void **state)
{
	st_fill(0, 8, 'a');
	st_refused(UNMAP(DESC(0, 8), DESC(ST_BLOCKS - 1, 2)), SENSE_LBA_RANGE);
	st_expect(0, 8, 'a');
}

static void a_range_that_wraps_is_out_of_range(void **state)
{
	st_refused(UNMAP(DESC(UINT64_MAX - 1, 8)), SENSE_LBA_RANGE);
}

static void the_sum_of_blocks_is_limited(void **state)
{
	st_lu()->attr.max_unmap_lba_count = 16;
	assert_int_equal(UNMAP(DESC(0, 8), DESC(8, 8)), STATUS_GOOD);
	st_refused(UNMAP(DESC(0, 8), DESC(8, 9)), SENSE_INVALID_FIELD_PARAM);
}

static void the_number_of_descriptors_is_limited(void **state)
{
	st_lu()->attr.max_unmap_block_desc_count = 1;
	assert_int_equal(UNMAP(DESC(0, 8)), STATUS_GOOD);
	st_refused(UNMAP(DESC(0, 8), DESC(8, 8)), SENSE_INVALID_FIELD_PARAM);
}

static void a_list_shorter_than_its_header_is_refused(void **state)
{
	uint8_t p[8] = { 0 };
	st_refused(unmap(p, 7), SENSE_PARAM_LIST_LENGTH);
}

static void descriptors_that_did_not_come_are_refused(void **state)
{
	uint8_t p[24] = { 0, 38, 0, 32 };
	st_refused(unmap(p, 24), SENSE_PARAM_LIST_LENGTH);
}

static void an_incomplete_last_descriptor_is_ignored(void **state)
{
	st_fill(0, 8, 'a');
	uint8_t p[8 + 16 + 8] = { 0, 30, 0, 24, 0, 0, 0, 0, DESC(0, 1), BE64(4) };
	assert_int_equal(unmap(p, sizeof p), STATUS_GOOD);
	st_expect(0, 1, 0);
	st_expect(1, 7, 'a');
}

static void anchoring_is_refused(void **state)
{
	uint8_t cdb[10] = { 0x42, 0x01 };
	st_refused(st_out(cdb, 10, NULL, 0), SENSE_INVALID_FIELD_CDB);
}

static void without_thin_provisioning_there_is_no_unmap(void **state)
{
	st_lu()->attr.emulate_tpu = 0;
	st_refused(UNMAP(DESC(0, 8)), SENSE_INVALID_OPCODE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ST_TEST(unmapped_blocks_read_as_zeroes),
		ST_TEST(many_descriptors_are_all_served),
		ST_TEST(a_full_list_of_descriptors_is_served),
		ST_TEST(an_empty_list_is_good),
		ST_TEST(zero_blocks_at_the_end_of_the_medium_are_good),
		ST_TEST(zero_blocks_past_the_end_are_refused),
		ST_TEST(nothing_is_unmapped_when_a_later_descriptor_is_out_of_range),
		ST_TEST(a_range_that_wraps_is_out_of_range),
		ST_TEST(the_sum_of_blocks_is_limited),
		ST_TEST(the_number_of_descriptors_is_limited),
		ST_TEST(a_list_shorter_than_its_header_is_refused),
		ST_TEST(descriptors_that_did_not_come_are_refused),
		ST_TEST(an_incomplete_last_descriptor_is_ignored),
		ST_TEST(anchoring_is_refused),
		ST_TEST(without_thin_provisioning_there_is_no_unmap),
	};
	return st_main(tests);
}
