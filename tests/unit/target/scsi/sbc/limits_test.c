// SPDX-License-Identifier: BSD-2-Clause
// The promises of VPD pages B0, B1 and B2 against settings and backstore.
#include "target/scsi/sbc/sbc_test.h"

#include "target/scsi/sbc/limits.h"

static struct bs_limits *storage(void)
{
	return &lu_bs(st_lu())->limits;
}

static void unmap_is_promised_only_where_settings_and_storage_agree(void **state)
{
	assert_true(sbc_limits_of(st_lu()).can_unmap);
	st_lu()->attr.emulate_tpu = 0;
	assert_false(sbc_limits_of(st_lu()).can_unmap);
	assert_int_equal(sbc_limits_of(st_lu()).max_unmap_blocks, 0);
	assert_int_equal(sbc_limits_of(st_lu()).max_unmap_descriptors, 0);
	st_lu()->attr.emulate_tpu = 1;
	storage()->can_unmap = false;
	assert_false(sbc_limits_of(st_lu()).is_thin);
}

static void unmap_limits_are_sane_for_initiators_that_check(void **state)
{
	struct sbc_limits l = sbc_limits_of(st_lu());
	assert_in_range(l.max_unmap_blocks, 1, 1 << 20);
	assert_in_range(l.max_unmap_descriptors, 256, 1 << 20);
}

static void reading_zeroes_is_promised_only_when_the_storage_does_so(void **state)
{
	assert_true(sbc_limits_of(st_lu()).unmap_zeroes);
	storage()->unmap_zeroes = false;
	assert_false(sbc_limits_of(st_lu()).unmap_zeroes);
}

static void an_atomic_write_is_never_longer_than_a_write(void **state)
{
	st_lu()->attr.atomic_write_kib = 1 << 20;
	struct sbc_limits l = sbc_limits_of(st_lu());
	assert_in_range(l.atomic_max, 1, l.max_transfer ? l.max_transfer : UINT16_MAX);
}

static void what_the_storage_writes_atomically_caps_the_setting(void **state)
{
	storage()->atomic_write_max = 4096;
	assert_int_equal(sbc_limits_of(st_lu()).atomic_max, 4096 / ST_BLOCK);
}

static void block_erase_is_announced_in_wabereq_as_it_is_offered(void **state)
{
	assert_int_equal(sbc_limits_of(st_lu()).wabereq, 1);
	assert_true(sbc_has_block_erase(st_lu()));
	st_lu()->attr.emulate_tpu = st_lu()->attr.emulate_tpws = 0;
	assert_int_equal(sbc_limits_of(st_lu()).wabereq, 0);
	assert_false(sbc_has_block_erase(st_lu()));
}

static void physical_blocks_show_in_exponent_and_granularity(void **state)
{
	storage()->physical_block = 4096;
	assert_int_equal(sbc_limits_of(st_lu()).lbppb_exponent, 3);
	assert_int_equal(sbc_limits_of(st_lu()).transfer_granularity, 8);
}

static void compare_and_write_is_limited_to_what_its_cdb_can_say(void **state)
{
	st_lu()->attr.max_caw_blocks = 4000;
	assert_int_equal(sbc_limits_of(st_lu()).max_compare_and_write, 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ST_TEST(unmap_is_promised_only_where_settings_and_storage_agree),
		ST_TEST(unmap_limits_are_sane_for_initiators_that_check),
		ST_TEST(reading_zeroes_is_promised_only_when_the_storage_does_so),
		ST_TEST(an_atomic_write_is_never_longer_than_a_write),
		ST_TEST(what_the_storage_writes_atomically_caps_the_setting),
		ST_TEST(block_erase_is_announced_in_wabereq_as_it_is_offered),
		ST_TEST(physical_blocks_show_in_exponent_and_granularity),
		ST_TEST(compare_and_write_is_limited_to_what_its_cdb_can_say),
	};
	return st_main(tests);
}
