// SPDX-License-Identifier: BSD-2-Clause
// Space and integrity commands over real files: with O_DIRECT where the file system has it,
// and through the page cache.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/scsi/scsi_bench.h"
#include "transport/wire/be.h"

#define BLOCK  512u
#define BLOCKS 8192u

static struct bench b;
static struct bench_cmd c;
static char folder[] = "/tmp/farblock-sbc-XXXXXX", path[64];
static uint8_t data[64 * BLOCK];

static int setup(void **state)
{
	static const char *const attrs[] = { "emulate_tpu=1", "emulate_tpws=1", NULL };
	snprintf(path, sizeof path, "%s/disk", folder);
	struct bench_options o = { .type = backstore_type_find("fileio"),
				   .dev = path,
				   .size = BLOCKS * BLOCK,
				   .write_back = *state != NULL,
				   .attrs = attrs };
	bench_init(&b, &o);
	return 0;
}

static int teardown(void **state)
{
	bench_done(&b);
	return unlink(path);
}

static void fill(uint32_t lba, uint8_t blocks, uint8_t byte)
{
	memset(data, byte, blocks * BLOCK);
	assert_int_equal(BENCH_OUT(&b, 0, &c, data, blocks * BLOCK, 0x2a, 0, 0, 0,
				   (uint8_t)(lba >> 8), (uint8_t)lba, 0, 0, blocks, 0),
			 STATUS_GOOD);
}

static void expect(uint32_t lba, uint8_t blocks, uint8_t byte)
{
	assert_int_equal(BENCH_IN(&b, 0, &c, blocks * BLOCK, 0x28, 0, 0, 0, (uint8_t)(lba >> 8),
				  (uint8_t)lba, 0, 0, blocks, 0),
			 STATUS_GOOD);
	for (uint32_t i = 0; i < blocks * BLOCK; i++)
		assert_int_equal(c.data[i], byte);
}

static void compare_and_write_writes_the_second_half(void **state)
{
	fill(5, 6, 'a');
	memset(data, 'a', 3 * BLOCK);
	memset(data + 3 * BLOCK, 'b', 3 * BLOCK);
	assert_int_equal(BENCH_OUT(&b, 0, &c, data, 6 * BLOCK, 0x89, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0,
				   0, 0, 3, 0, 0),
			 STATUS_GOOD);
	expect(5, 1, 'a');
	expect(6, 3, 'b');
	expect(9, 2, 'a');
}

static void orwrite_combines(void **state)
{
	fill(1, 9, 0x11);
	memset(data, 0x22, 7 * BLOCK);
	assert_int_equal(BENCH_OUT(&b, 0, &c, data, 7 * BLOCK, 0x8b, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0,
				   0, 0, 7, 0, 0),
			 STATUS_GOOD);
	expect(1, 1, 0x11);
	expect(2, 7, 0x33);
	expect(9, 1, 0x11);
}

static void write_same_repeats_the_block_over_slices(void **state)
{
	memset(data, 's', BLOCK);
	// 5,000 blocks from block 3
	assert_int_equal(BENCH_OUT(&b, 0, &c, data, BLOCK, 0x93, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0,
				   0x13, 0x88, 0, 0),
			 STATUS_GOOD);
	expect(0, 3, 0);
	expect(3, 60, 's');
	expect(2048, 60, 's');
	expect(4960, 43, 's');
	expect(5003, 20, 0);
}

static void unmapping_makes_holes_that_read_as_zeroes(void **state)
{
	static const uint8_t list[24] = { 0, 22, 0, 16, 0, 0, 0, 0, 0, 0,
					  0, 0,	 0, 0,	0, 4, 0, 0, 0, 32 };
	fill(0, 64, 'a');
	assert_int_equal(BENCH_OUT(&b, 0, &c, list, 24, 0x42, 0, 0, 0, 0, 0, 0, 0, 24, 0),
			 STATUS_GOOD);
	expect(0, 4, 'a');
	expect(4, 32, 0);
	expect(36, 28, 'a');
	// Block 16 lies in a page that was freed whole.
	assert_int_equal(
		BENCH_IN(&b, 0, &c, 24, 0x9e, 0x12, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 24, 0, 0),
		STATUS_GOOD);
	assert_int_equal(get_be64(c.data + 8), 16);
	assert_int_equal(c.data[20], 1);
}

static void write_and_verify_writes(void **state)
{
	memset(data, 'v', 8 * BLOCK);
	assert_int_equal(BENCH_OUT(&b, 0, &c, data, 8 * BLOCK, 0x2e, 2, 0, 0, 0, 7, 0, 0, 8, 0),
			 STATUS_GOOD);
	expect(7, 8, 'v');
}

static void verify_finds_a_difference(void **state)
{
	fill(0, 16, 'a');
	data[9 * BLOCK] = 'b';
	BENCH_OUT(&b, 0, &c, data, 16 * BLOCK, 0x2f, 2, 0, 0, 0, 0, 0, 0, 16, 0);
	assert_int_equal(c.code, SENSE_MISCOMPARE);
}

static void sanitize_overwrites_the_whole_file(void **state)
{
	static const uint8_t list[] = { 1, 0, 0, 1, 'z' };
	assert_int_equal(BENCH_OUT(&b, 0, &c, list, 5, 0x48, 1, 0, 0, 0, 0, 0, 0, 5, 0),
			 STATUS_GOOD);
	expect(0, 60, 'z');
	expect(BLOCKS - 60, 60, 'z');
}

#define BOTH(f)                                                                                    \
	{ #f " (direct)", f, setup, teardown, NULL },                                              \
	{                                                                                          \
#f " (cached)", f, setup, teardown, folder                                         \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(compare_and_write_writes_the_second_half),
		BOTH(orwrite_combines),
		BOTH(write_same_repeats_the_block_over_slices),
		BOTH(unmapping_makes_holes_that_read_as_zeroes),
		BOTH(write_and_verify_writes),
		BOTH(verify_finds_a_difference),
		BOTH(sanitize_overwrites_the_whole_file),
	};
	if (!mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
