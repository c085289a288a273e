// SPDX-License-Identifier: BSD-2-Clause
// READ and WRITE over a RAM disk: data, ranges, flags, residuals.
#include "target/scsi/scsi_test.h"

static uint8_t pattern[131072];

static int setup(void **state)
{
	start(NULL);
	for (unsigned i = 0; i < sizeof pattern; i++)
		pattern[i] = (uint8_t)(i * 7 + i / 256);
	return 0;
}

static int setup_large(void **state)
{
	start(&(struct bench_options){ .size = 64 << 20 });
	return 0;
}

static void what_was_written_is_read(void **state)
{
	assert_int_equal(BENCH_OUT(&b, 0, &c, pattern, 1024, 0x2a, 0, 0, 0, 0, 5, 0, 0, 2, 0), 0);
	assert_int_equal(BENCH_IN(&b, 0, &c, 1024, 0x28, 0, 0, 0, 0, 5, 0, 0, 2, 0), 0);
	assert_int_equal(c.data_in, 1024);
	assert_memory_equal(c.data, pattern, 1024);
}

static void all_lengths_of_read_see_the_same_block(void **state)
{
	BENCH_OUT(&b, 0, &c, pattern, 512, 0x8a, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0);
	assert_int_equal(BENCH_IN(&b, 0, &c, 512, 0x08, 0, 0, 9, 1, 0), 0);
	assert_memory_equal(c.data, pattern, 512);
	assert_int_equal(BENCH_IN(&b, 0, &c, 512, 0xa8, 0, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0), 0);
	assert_memory_equal(c.data, pattern, 512);
	assert_int_equal(
		BENCH_IN(&b, 0, &c, 512, 0x88, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0), 0);
	assert_memory_equal(c.data, pattern, 512);
}

static void all_lengths_of_write_reach_the_block(void **state)
{
	BENCH_OUT(&b, 0, &c, pattern, 512, 0x0a, 0, 0, 3, 1, 0);
	BENCH_OUT(&b, 0, &c, pattern + 512, 512, 0xaa, 0, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0);
	BENCH_IN(&b, 0, &c, 1024, 0x28, 0, 0, 0, 0, 3, 0, 0, 2, 0);
	assert_memory_equal(c.data, pattern, 1024);
}

static void zero_blocks_of_read6_are_256(void **state)
{
	assert_int_equal(BENCH_IN(&b, 0, &c, 256 * 512, 0x08, 0, 0, 0, 0, 0), 0);
	assert_int_equal(c.data_in, 256 * 512);
}

static void zero_blocks_are_good(void **state)
{
	assert_int_equal(BENCH_IN(&b, 0, &c, 512, 0x28, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0);
	assert_int_equal(c.data_in, 0);
	assert_int_equal(c.wanted, 0);
}

static void zero_blocks_past_the_end_are_out_of_range(void **state)
{
	BENCH_IN(&b, 0, &c, 0, 0x28, 0, 0, 0, 8, 0, 0, 0, 0, 0); // capacity is 2048
	expect_code(SENSE_LBA_RANGE);
}

static void the_last_block_can_be_read(void **state)
{
	assert_int_equal(BENCH_IN(&b, 0, &c, 512, 0x28, 0, 0, 0, 7, 255, 0, 0, 1, 0), 0);
}

static void one_block_beyond_the_end_is_out_of_range(void **state)
{
	BENCH_IN(&b, 0, &c, 1024, 0x28, 0, 0, 0, 7, 255, 0, 0, 2, 0);
	expect_code(SENSE_LBA_RANGE);
	assert_int_equal(c.data_in, 0);
}

static void a_range_that_wraps_around_is_out_of_range(void **state)
{
	BENCH_IN(&b, 0, &c, 1024, 0x88, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 2, 0,
		 0);
	expect_code(SENSE_LBA_RANGE);
}

static void fua_and_dpo_are_accepted(void **state)
{
	assert_int_equal(BENCH_IN(&b, 0, &c, 512, 0x28, 0x18, 0, 0, 0, 0, 0, 0, 1, 0), 0);
}

static void fua_is_refused_where_dpofua_is_not_advertised(void **state)
{
	assert_int_equal(bench_attr(&b, "emulate_fua_write", "0"), 0);
	BENCH_NONE(&b, 0, &c, 0, 0, 0, 0, 0, 0); // mode parameters changed
	BENCH_IN(&b, 0, &c, 512, 0x28, 0x08, 0, 0, 0, 0, 0, 0, 1, 0);
	expect_code(SENSE_INVALID_FIELD_CDB);
}

static void rdprotect_is_refused(void **state)
{
	BENCH_IN(&b, 0, &c, 512, 0x28, 0x20, 0, 0, 0, 0, 0, 0, 1, 0);
	expect_code(SENSE_INVALID_FIELD_CDB);
}

static void limit_transfers(void)
{
	assert_int_equal(bench_attr(&b, "max_transfer_kib", "64"), 0);
	BENCH_NONE(&b, 0, &c, 0, 0, 0, 0, 0, 0);
}

static void a_read_past_the_maximum_is_sent_in_pieces(void **state)
{
	assert_int_equal(BENCH_OUT(&b, 0, &c, pattern, 131072, 0x2a, 0, 0, 0, 0, 3, 0, 1, 0, 0), 0);
	limit_transfers();
	assert_int_equal(BENCH_IN(&b, 0, &c, 131000, 0x28, 0, 0, 0, 0, 3, 0, 1, 5, 0), 0);
	assert_int_equal(c.pieces, 1);
	assert_int_equal(c.data_in, 131000);
	assert_int_equal(c.wanted, 261 * 512);
	assert_memory_equal(c.data, pattern, 131000);
}

static void a_write_past_the_maximum_is_fetched_in_pieces(void **state)
{
	limit_transfers();
	assert_int_equal(BENCH_OUT(&b, 0, &c, pattern, 131072, 0x2a, 0, 0, 0, 0, 3, 0, 1, 0, 0), 0);
	assert_int_equal(c.fetched, 131072);
	assert_int_equal(BENCH_IN(&b, 0, &c, 131072, 0x28, 0, 0, 0, 0, 3, 0, 1, 0, 0), 0);
	assert_memory_equal(c.data, pattern, 131072);
}

static void a_transfer_of_the_maximum_is_one_piece(void **state)
{
	limit_transfers();
	assert_int_equal(BENCH_IN(&b, 0, &c, 65536, 0x28, 0, 0, 0, 0, 0, 0, 0, 128, 0), 0);
	assert_int_equal(c.pieces, 0);
}

// iPXE's count in 16 bits.
static void blocks_that_are_cut_off_the_count_are_meant(void **state)
{
	struct task *t = &c.task;
	BENCH_IN(&b, 0, &c, 65537 * 512, 0x28, 0, 0, 0xff, 0xff, 0xff, 0, 0, 1, 0);
	expect_code(SENSE_LBA_RANGE); // all of them are looked at
	BENCH_IN(&b, 0, &c, 65538 * 512, 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0);
	assert_int_equal(t->blocks, 1);
	BENCH_IN(&b, 0, &c, 65537 * 512 - 1, 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0);
	assert_int_equal(t->blocks, 1);
	BENCH_IN(&b, 0, &c, 65537 * 512, 0x88, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0);
	assert_int_equal(t->blocks, 1);
}

static void a_read_into_less_room_is_cut_and_overflows(void **state)
{
	assert_int_equal(BENCH_IN(&b, 0, &c, 200, 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0), 0);
	assert_int_equal(c.data_in, 200);
	assert_int_equal(c.wanted, 512);
}

static void a_read_without_room_is_good_and_overflows(void **state)
{
	assert_int_equal(BENCH_NONE(&b, 0, &c, 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0), 0);
	assert_int_equal(c.data_in, 0);
	assert_int_equal(c.wanted, 512);
}

static void a_write_announced_within_a_block_is_refused_with_its_residual(void **state)
{
	BENCH_OUT(&b, 0, &c, pattern, 200, 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0);
	expect_code(SENSE_INVALID_FIELD_IU);
	assert_int_equal(c.wanted, 512);
	assert_int_equal(c.fetched, 0);
}

static void a_write_of_more_than_announced_writes_the_announced_blocks(void **state)
{
	static const uint8_t zeroes[512];
	expect_good(BENCH_OUT(&b, 0, &c, pattern, 512, 0x2a, 0, 0, 0, 0, 0, 0, 0, 2, 0));
	assert_int_equal(c.wanted, 1024);
	assert_int_equal(c.fetched, 512);
	BENCH_IN(&b, 0, &c, 1024, 0x28, 0, 0, 0, 0, 0, 0, 0, 2, 0);
	assert_memory_equal(c.data, pattern, 512);
	assert_memory_equal(c.data + 512, zeroes, 512);
}

static void a_write_announced_without_data_is_good_and_overflows(void **state)
{
	expect_good(BENCH_NONE(&b, 0, &c, 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0));
	assert_int_equal(c.wanted, 512);
}

static void a_write_through_buffers_is_cut_alike(void **state)
{
	bench_attr(&b, "delay_read_us", "1");
	expect_good(BENCH_OUT(&b, 0, &c, pattern, 512, 0x2a, 0, 0, 0, 0, 0, 0, 0, 2, 0));
	assert_int_equal(c.wanted, 1024);
	assert_int_equal(c.fetched, 512);
}

static void a_write_fetches_no_more_than_the_command_takes(void **state)
{
	assert_int_equal(BENCH_OUT(&b, 0, &c, pattern, 1024, 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0), 0);
	assert_int_equal(c.fetched, 512);
	assert_int_equal(c.wanted, 512);
}

static void a_read_with_data_out_is_good(void **state)
{
	assert_int_equal(BENCH_OUT(&b, 0, &c, pattern, 512, 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0), 0);
	assert_int_equal(c.fetched, 0);
}

static void ram_disk_data_is_not_copied(void **state)
{
	BENCH_OUT(&b, 0, &c, pattern, 4096, 0x2a, 0, 0, 0, 0, 0, 0, 0, 8, 0);
	BENCH_IN(&b, 0, &c, 4096, 0x28, 0, 0, 0, 0, 0, 0, 0, 8, 0);
	assert_int_equal(worker_counters(b.workers[0])->payload_copies, 0);
	assert_true(c.in_place);
}

static void a_null_disk_reads_zeroes(void **state)
{
	static const uint8_t zeroes[512];
	bench_done(&b);
	start(&(struct bench_options){ .nullio = true });
	BENCH_OUT(&b, 0, &c, pattern, 512, 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0);
	assert_int_equal(c.status, STATUS_GOOD);
	BENCH_IN(&b, 0, &c, 512, 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0);
	assert_memory_equal(c.data, zeroes, 512);
}

static void a_failed_read_tells_the_lba(void **state)
{
	assert_int_equal(bench_attr(&b, "error_read_ppm", "1000000"), 0);
	BENCH_IN(&b, 0, &c, 512, 0x28, 0, 0, 0, 0, 77, 0, 0, 1, 0);
	expect_code(SENSE_READ_ERROR);
	assert_int_equal(get_be32(c.sense + 3), 77);
	assert_int_equal(c.data_in, 0);
}

static void a_failed_write_is_a_write_error(void **state)
{
	assert_int_equal(bench_attr(&b, "error_write_ppm", "1000000"), 0);
	BENCH_OUT(&b, 0, &c, pattern, 512, 0x2a, 0, 0, 0, 0, 77, 0, 0, 1, 0);
	expect_code(SENSE_WRITE_ERROR);
}

static void faults_taken_back_leave_the_memory_direct_again(void **state)
{
	bench_attr(&b, "error_read_ppm", "1000000");
	bench_attr(&b, "error_read_ppm", "0");
	assert_int_equal(BENCH_IN(&b, 0, &c, 512, 0x28, 0, 0, 0, 0, 77, 0, 0, 1, 0), 0);
	assert_true(c.in_place);
}

static void data_through_a_filter_is_whole(void **state)
{
	bench_attr(&b, "delay_write_us", "1");
	BENCH_OUT(&b, 0, &c, pattern, 65536, 0x2a, 0, 0, 0, 0, 1, 0, 0, 128, 0);
	assert_int_equal(c.status, STATUS_GOOD);
	assert_int_equal(BENCH_IN(&b, 0, &c, 65000, 0x28, 0, 0, 0, 0, 1, 0, 0, 128, 0), 0);
	assert_int_equal(c.data_in, 65000);
	assert_memory_equal(c.data, pattern, 65000);
	assert_false(c.in_place);
}

static void big_blocks_are_addressed_by_block(void **state)
{
	bench_done(&b);
	start(&(struct bench_options){ .block_size = 4096 });
	assert_int_equal(BENCH_OUT(&b, 0, &c, pattern, 4096, 0x2a, 0, 0, 0, 0, 255, 0, 0, 1, 0), 0);
	assert_int_equal(BENCH_IN(&b, 0, &c, 4096, 0x28, 0, 0, 0, 0, 255, 0, 0, 1, 0), 0);
	assert_memory_equal(c.data, pattern, 4096);
	BENCH_IN(&b, 0, &c, 4096, 0x28, 0, 0, 0, 1, 0, 0, 0, 1, 0);
	expect_code(SENSE_LBA_RANGE);
}

static void data_that_fails_its_digest_is_an_aborted_command(void **state)
{
	memset(&c, 0, offsetof(struct bench_cmd, data));
	memcpy(c.cdb, (uint8_t[]){ 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0 }, 10);
	c.cdb_len = 10;
	c.out_len = 512;
	c.data_result = -74; // -EBADMSG
	bench_start(&b, 0, &c);
	bench_wait(&c);
	expect_code(SENSE_SERVICE_CRC_ERROR);
}

#undef T
#define T(f) cmocka_unit_test_setup_teardown(f, setup, stop)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_was_written_is_read),
		T(all_lengths_of_read_see_the_same_block),
		T(all_lengths_of_write_reach_the_block),
		T(zero_blocks_of_read6_are_256),
		T(zero_blocks_are_good),
		T(zero_blocks_past_the_end_are_out_of_range),
		T(the_last_block_can_be_read),
		T(one_block_beyond_the_end_is_out_of_range),
		T(a_range_that_wraps_around_is_out_of_range),
		T(fua_and_dpo_are_accepted),
		T(fua_is_refused_where_dpofua_is_not_advertised),
		T(rdprotect_is_refused),
		T(a_read_past_the_maximum_is_sent_in_pieces),
		T(a_write_past_the_maximum_is_fetched_in_pieces),
		T(a_transfer_of_the_maximum_is_one_piece),
		cmocka_unit_test_setup_teardown(blocks_that_are_cut_off_the_count_are_meant,
						setup_large, stop),
		T(a_read_into_less_room_is_cut_and_overflows),
		T(a_read_without_room_is_good_and_overflows),
		T(a_write_announced_within_a_block_is_refused_with_its_residual),
		T(a_write_of_more_than_announced_writes_the_announced_blocks),
		T(a_write_announced_without_data_is_good_and_overflows),
		T(a_write_through_buffers_is_cut_alike),
		T(a_write_fetches_no_more_than_the_command_takes),
		T(a_read_with_data_out_is_good),
		T(ram_disk_data_is_not_copied),
		T(a_null_disk_reads_zeroes),
		T(a_failed_read_tells_the_lba),
		T(a_failed_write_is_a_write_error),
		T(faults_taken_back_leave_the_memory_direct_again),
		T(data_through_a_filter_is_whole),
		T(big_blocks_are_addressed_by_block),
		T(data_that_fails_its_digest_is_an_aborted_command),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
