// SPDX-License-Identifier: BSD-2-Clause
// GET LBA STATUS: extents as descriptors. The RAM disk below keeps pages of 4 KiB.
#include "target/scsi/sbc/sbc_test.h"

enum { MAPPED, DEALLOCATED };
#define PAGE 8 // blocks

static uint8_t answer[8 + 16 * 300];

static uint8_t get_status(uint64_t lba, uint32_t alloc)
{
	uint8_t cdb[16] = { 0x9e, 0x12 };
	put_be64(cdb + 2, lba);
	put_be32(cdb + 10, alloc);
	memset(answer, 0xee, sizeof answer);
	return st_in(cdb, 16, answer, alloc);
}

static unsigned descriptors(void)
{
	return (get_be32(answer) - 4) / 16;
}

static void assert_descriptor(unsigned i, uint64_t lba, uint32_t blocks, uint8_t provisioning)
{
	const uint8_t *d = answer + 8 + 16 * i;
	assert_int_equal(get_be64(d), lba);
	assert_int_equal(get_be32(d + 8), blocks);
	assert_int_equal(d[12], provisioning);
}

static void holes_and_data_are_told_apart(void **state)
{
	st_fill(2 * PAGE, 3 * PAGE, 'a');
	assert_int_equal(get_status(0, sizeof answer), STATUS_GOOD);
	assert_int_equal(descriptors(), 3);
	assert_descriptor(0, 0, 2 * PAGE, DEALLOCATED);
	assert_descriptor(1, 2 * PAGE, 3 * PAGE, MAPPED);
	assert_descriptor(2, 5 * PAGE, ST_BLOCKS - 5 * PAGE, DEALLOCATED);
}

static void the_first_descriptor_starts_at_the_block_asked_for(void **state)
{
	st_fill(0, 2 * PAGE, 'a');
	assert_int_equal(get_status(3, 24), STATUS_GOOD);
	assert_int_equal(descriptors(), 1);
	assert_descriptor(0, 3, 2 * PAGE - 3, MAPPED);
}

static void the_allocation_length_bounds_the_descriptors(void **state)
{
	for (unsigned i = 0; i < 8; i++)
		st_fill(2 * i * PAGE, PAGE, 'a');
	assert_int_equal(get_status(0, 8 + 16 * 5 + 15), STATUS_GOOD);
	assert_int_equal(descriptors(), 5);
	assert_descriptor(4, 4 * PAGE, PAGE, MAPPED);
}

static void the_number_of_descriptors_is_bounded(void **state)
{
	for (unsigned i = 0; i < 200; i++)
		st_fill(2 * i * PAGE, 1, 'a');
	assert_int_equal(get_status(0, sizeof answer), STATUS_GOOD);
	assert_int_equal(descriptors(), 255);
	assert_descriptor(254, 254 * PAGE, PAGE, MAPPED);
}

static void a_short_allocation_length_is_good(void **state)
{
	assert_int_equal(get_status(0, 4), STATUS_GOOD);
	assert_int_equal(get_be32(answer), 20);
}

static void the_end_of_the_medium_is_out_of_range(void **state)
{
	st_refused(get_status(ST_BLOCKS, 24), SENSE_LBA_RANGE);
	st_refused(get_status(UINT64_MAX, 24), SENSE_LBA_RANGE);
}

static void without_thin_provisioning_all_is_mapped(void **state)
{
	st_lu()->attr.emulate_tpu = st_lu()->attr.emulate_tpws = 0;
	assert_int_equal(get_status(5, sizeof answer), STATUS_GOOD);
	assert_int_equal(descriptors(), 1);
	assert_descriptor(0, 5, ST_BLOCKS - 5, MAPPED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ST_TEST(holes_and_data_are_told_apart),
		ST_TEST(the_first_descriptor_starts_at_the_block_asked_for),
		ST_TEST(the_allocation_length_bounds_the_descriptors),
		ST_TEST(the_number_of_descriptors_is_bounded),
		ST_TEST(a_short_allocation_length_is_good),
		ST_TEST(the_end_of_the_medium_is_out_of_range),
		ST_TEST(without_thin_provisioning_all_is_mapped),
	};
	return st_main(tests);
}
