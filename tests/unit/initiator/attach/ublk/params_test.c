// SPDX-License-Identifier: BSD-2-Clause
// What the kernel's ublk is told about a disk, and which disk may continue a device.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/attach/ublk/params.h"

#define MIB (1u << 20)

static struct disk_facts thin_disk(void)
{
	return (struct disk_facts){
		.blocks = 1000,
		.block_size = 4096,
		.physical_block_size = 4096,
		.transfer_optimal = 131072,
		.unmap_max = 1ull << 40,
		.unmap_granularity = 65536,
		.zeroes_max = 12345678,
		.has_write_cache = true,
		.has_fua = true,
	};
}

static struct ublk_params params_of(const struct disk_facts *f)
{
	struct ublk_params p;
	struct err e;

	assert_int_equal(ublk_params_of(&p, f, MIB, &e), 0);
	return p;
}

static void sizes_are_told_in_sectors_and_shifts(void **state)
{
	struct disk_facts f = thin_disk();
	struct ublk_params p = params_of(&f);

	assert_int_equal(p.sectors, 8000);
	assert_int_equal(p.sectors_max, 2048);
	assert_int_equal(p.logical_shift, 12);
	assert_int_equal(p.physical_shift, 12);
	assert_int_equal(p.io_opt_shift, 17);
	assert_int_equal(p.attributes, UBLK_HAS_CACHE | UBLK_HAS_FUA);
}

static void limits_are_whole_blocks_that_32_bits_of_bytes_hold(void **state)
{
	struct disk_facts f = thin_disk();
	struct ublk_params p = params_of(&f);

	assert_int_equal(p.types, UBLK_HAS_BASIC | UBLK_HAS_DISCARD);
	assert_int_equal(p.discard_granularity, 65536);
	assert_int_equal(p.discard_sectors_max, (UINT32_MAX - 4095) / 512);
	assert_int_equal(p.zeroes_sectors_max, 12345678 / 4096 * 8);
	assert_int_equal(p.discard_segments_max, 1);
}

static void a_read_only_disk_discards_nothing(void **state)
{
	struct disk_facts f = thin_disk();

	f.is_read_only = true;
	struct ublk_params p = params_of(&f);
	assert_int_equal(p.types, UBLK_HAS_BASIC);
	assert_true(p.attributes & UBLK_IS_READ_ONLY);
}

static void fua_is_not_told_without_a_cache(void **state)
{
	struct disk_facts f = thin_disk();

	f.has_write_cache = false;
	assert_int_equal(params_of(&f).attributes, 0);
}

static void blocks_larger_than_a_page_are_refused(void **state)
{
	struct disk_facts f = thin_disk();
	struct ublk_params p;
	struct err e;

	f.block_size = f.physical_block_size = 65536 * 2;
	assert_int_equal(ublk_params_of(&p, &f, MIB, &e), -EINVAL);
	assert_non_null(strstr(e.text, "blocks of 131072 bytes"));
}

static void a_device_continues_on_its_disk_or_one_that_has_grown(void **state)
{
	struct disk_facts f = thin_disk();
	struct ublk_params p = params_of(&f);
	struct err e;

	assert_int_equal(ublk_params_fit(&p, &f, &e), 0);
	f.blocks++;
	assert_int_equal(ublk_params_fit(&p, &f, &e), 0);
}

static void a_device_does_not_continue_on_a_smaller_disk(void **state)
{
	struct disk_facts f = thin_disk();
	struct ublk_params p = params_of(&f);
	struct err e;

	f.blocks--;
	assert_int_equal(ublk_params_fit(&p, &f, &e), -ESTALE);
}

static void a_device_does_not_continue_on_one_with_other_blocks(void **state)
{
	struct disk_facts f = thin_disk();
	struct ublk_params p = params_of(&f);
	struct err e;

	f.block_size = 512;
	f.blocks *= 8;
	assert_int_equal(ublk_params_fit(&p, &f, &e), -ESTALE);
}

static void a_writable_device_does_not_continue_on_a_read_only_disk(void **state)
{
	struct disk_facts f = thin_disk();
	struct ublk_params p = params_of(&f);
	struct err e;

	f.is_read_only = true;
	assert_int_equal(ublk_params_fit(&p, &f, &e), -EROFS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_told_in_sectors_and_shifts),
		cmocka_unit_test(limits_are_whole_blocks_that_32_bits_of_bytes_hold),
		cmocka_unit_test(a_read_only_disk_discards_nothing),
		cmocka_unit_test(fua_is_not_told_without_a_cache),
		cmocka_unit_test(blocks_larger_than_a_page_are_refused),
		cmocka_unit_test(a_device_continues_on_its_disk_or_one_that_has_grown),
		cmocka_unit_test(a_device_does_not_continue_on_a_smaller_disk),
		cmocka_unit_test(a_device_does_not_continue_on_one_with_other_blocks),
		cmocka_unit_test(a_writable_device_does_not_continue_on_a_read_only_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
