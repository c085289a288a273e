// SPDX-License-Identifier: BSD-2-Clause
// EXTENDED COPY(LID1) and RECEIVE COPY ...: copies between two LUNs of a session, its checks
// in the order that initiators rely on, and what they may not reach.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>

#include "target/scsi/copy/extended_copy.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/reservations/pr_bench.h"

static struct lu *other;
static uint8_t pattern[1 << 20];
static uint8_t list[16 + 9 * 32 + 80 * 28];
static uint32_t list_len;

enum {
	COPY_ABORTED = SENSE(SK_COPY_ABORTED, 0x0d, 0x02),
	DEVICE_FAILED = SENSE(SK_COPY_ABORTED, 0x0d, 0x01),
};

static void clear_ua(uint64_t lun)
{
	do {
		memset(&c, 0, offsetof(struct bench_cmd, data));
		c.cdb_len = 6;
		c.lun = lun;
		bench_start(&b, 0, &c);
		bench_wait(&c);
	} while (c.code);
}

static int setup(void **state)
{
	const struct bench_options o = { .workers = 2, .nexuses = 2, .size = 4 << 20 };
	bench_init(&b, &o);
	other = bench_lu(&b, "other", "11111111-2222-3333-4444-555555555555", &o);
	bench_set_map(&b, 0, 2, (uint16_t[]){ 0, 1 }, (struct lu *[]){ b.lu, other });
	clear_ua(0);
	clear_ua(1);
	for (unsigned i = 0; i < sizeof pattern; i++)
		pattern[i] = (uint8_t)(i * 13 + i / 512);
	return 0;
}

static int teardown(void **state)
{
	lu_put(other);
	bench_done(&b);
	return 0;
}

static void list_start(uint8_t list_id, uint8_t usage)
{
	memset(list, 0, sizeof list);
	list[0] = list_id;
	list[1] = (uint8_t)(usage << 3);
	list_len = 16;
}

static void add_cscd(const struct lu *lu)
{
	uint8_t *d = list + list_len;
	d[0] = 0xe4;
	d[4] = 1;
	d[5] = 3;
	d[7] = 16;
	memcpy(d + 8, lu->naa, 16);
	put_be24(d + 29, lu->block_size);
	list_len += 32;
	put_be16(list + 2, (uint16_t)(list_len - 16));
}

static void add_segment(unsigned from, unsigned to, uint16_t blocks, uint64_t from_lba,
			uint64_t to_lba)
{
	uint8_t *d = list + list_len;
	d[0] = 0x02;
	d[3] = 0x18;
	put_be16(d + 4, (uint16_t)from);
	put_be16(d + 6, (uint16_t)to);
	put_be16(d + 10, blocks);
	put_be64(d + 12, from_lba);
	put_be64(d + 20, to_lba);
	list_len += 28;
	put_be32(list + 8, get_be32(list + 8) + 28);
}

// One device, one segment; more may be added.
static void list_of_one(unsigned from, unsigned to, uint16_t blocks, uint64_t from_lba,
			uint64_t to_lba)
{
	list_start(1, 0);
	add_cscd(b.lu);
	add_segment(from, to, blocks, from_lba, to_lba);
}

static int xcopy(unsigned nexus, uint32_t len)
{
	uint8_t cdb[16] = { 0x83 };
	put_be32(cdb + 10, len);
	return bench_run(&b, nexus, &c, cdb, 16, list, len, 0);
}

static int receive(unsigned sa, uint8_t list_id)
{
	uint8_t cdb[16] = { 0x84, (uint8_t)sa, list_id };
	put_be32(cdb + 10, 512);
	return bench_run(&b, 0, &c, cdb, 16, NULL, 0, 512);
}

static void write_pattern(uint16_t blocks)
{
	uint8_t cdb[10] = { 0x2a };
	put_be16(cdb + 7, blocks);
	assert_int_equal(bench_run(&b, 0, &c, cdb, 10, pattern, blocks * 512u, 0), 0);
}

static void expect_pattern(uint64_t lun, uint32_t lba, uint16_t blocks)
{
	uint8_t cdb[10] = { 0x28 };
	put_be32(cdb + 2, lba);
	put_be16(cdb + 7, blocks);
	memset(&c, 0, offsetof(struct bench_cmd, data));
	memcpy(c.cdb, cdb, 10);
	c.cdb_len = 10;
	c.lun = lun;
	c.expected_in = blocks * 512u;
	bench_start(&b, 0, &c);
	bench_wait(&c);
	assert_int_equal(c.status, 0);
	assert_memory_equal(c.data, pattern, blocks * 512u);
}

static void blocks_go_from_one_end_to_the_other(void **state)
{
	write_pattern(2048);
	list_start(1, XCOPY_DISCARD);
	add_cscd(b.lu);
	add_segment(0, 0, 2048, 0, 8192 - 2048);
	assert_int_equal(xcopy(0, list_len), 0);
	expect_pattern(0, 8192 - 2048, 2048);
}

static void blocks_go_to_another_lun(void **state)
{
	write_pattern(100);
	list_start(1, XCOPY_HOLD);
	add_cscd(b.lu);
	add_cscd(other);
	add_segment(0, 1, 60, 0, 7);
	add_segment(0, 1, 40, 60, 67);
	assert_int_equal(xcopy(0, list_len), 0);
	expect_pattern(1, 7, 100);
}

static void an_ordered_copy_does_not_wait_for_itself(void **state)
{
	write_pattern(8);
	list_of_one(0, 0, 8, 0, 100);
	memset(&c, 0, offsetof(struct bench_cmd, data));
	c.cdb[0] = 0x83;
	put_be32(c.cdb + 10, list_len);
	c.cdb_len = 16;
	c.attr = TASK_ORDERED;
	c.out = list;
	c.out_len = list_len;
	bench_start(&b, 0, &c);
	bench_wait(&c);
	assert_int_equal(c.status, 0);
	expect_pattern(0, 100, 8);
}

static void a_cut_list_is_a_length_error(void **state)
{
	list_of_one(0, 0, 8, 0, 100);
	xcopy(0, 16 + 31);
	assert_int_equal(c.code, SENSE_PARAM_LIST_LENGTH);
	xcopy(0, list_len - 1);
	assert_int_equal(c.code, SENSE_PARAM_LIST_LENGTH);
	assert_int_equal(xcopy(0, 0), 0);
}

static void too_many_descriptors_are_told_apart(void **state)
{
	list_start(1, 0);
	for (unsigned i = 0; i < XCOPY_CSCD_MAX + 1; i++)
		add_cscd(b.lu);
	add_segment(0, 0, 8, 0, 100);
	xcopy(0, list_len);
	assert_int_equal(c.code, SENSE(SK_ILLEGAL_REQUEST, 0x26, 0x06));
	list_start(1, 0);
	add_cscd(b.lu);
	for (unsigned i = 0; i < XCOPY_SEGMENT_MAX + 1; i++)
		add_segment(0, 0, 8, 0, 100);
	xcopy(0, list_len);
	assert_int_equal(c.code, SENSE(SK_ILLEGAL_REQUEST, 0x26, 0x08));
}

static void more_than_the_longest_list_is_a_length_error(void **state)
{
	list_start(1, 0);
	for (unsigned i = 0; i < XCOPY_CSCD_MAX + 1; i++)
		add_cscd(b.lu);
	while (list_len <= 16 + XCOPY_LIST_MAX)
		add_segment(0, 0, 8, 0, 100);
	xcopy(0, list_len);
	assert_int_equal(c.code, SENSE_PARAM_LIST_LENGTH);
}

static void unsupported_descriptor_types_are_named(void **state)
{
	list_of_one(0, 0, 8, 0, 100);
	list[16] = 0xe0;
	xcopy(0, list_len);
	assert_int_equal(c.code, SENSE(SK_ILLEGAL_REQUEST, 0x26, 0x07));
	list[16] = 0xe4;
	list[48] = 0x03;
	xcopy(0, list_len);
	assert_int_equal(c.code, SENSE(SK_ILLEGAL_REQUEST, 0x26, 0x09));
}

static void an_index_past_the_descriptors_aborts_the_copy(void **state)
{
	list_of_one(0, 1, 8, 0, 100);
	xcopy(0, list_len);
	assert_int_equal(c.code, COPY_ABORTED);
}

static void a_segment_past_the_end_aborts_the_copy(void **state)
{
	list_of_one(0, 0, 2048, 0, 8191);
	xcopy(0, list_len);
	assert_int_equal(c.code, COPY_ABORTED);
	list_of_one(0, 0, 1, UINT64_MAX, 0);
	xcopy(0, list_len);
	assert_int_equal(c.code, COPY_ABORTED);
}

static void a_lun_the_session_does_not_have_is_out_of_reach(void **state)
{
	list_start(1, 0);
	add_cscd(b.lu);
	add_cscd(other);
	add_segment(0, 1, 8, 0, 0);
	xcopy(1, list_len); // nexus 1 has LUN 0 alone
	assert_int_equal(c.code, COPY_ABORTED);
}

static void a_reservation_on_the_destination_is_met(void **state)
{
	pr_register(1);
	pr_out(1, OUT_RESERVE, 1, key_of(1), 0, 0);
	memset(&c, 0, offsetof(struct bench_cmd, data));
	list_start(1, 0);
	add_cscd(other);
	add_cscd(b.lu);
	add_segment(0, 1, 8, 0, 0);
	c.cdb[0] = 0x83;
	put_be32(c.cdb + 10, list_len);
	c.cdb_len = 16;
	c.lun = 1;
	c.out = list;
	c.out_len = list_len;
	bench_start(&b, 0, &c);
	bench_wait(&c);
	assert_int_equal(c.status, STATUS_RESERVATION_CONFLICT);
}

// A copy of 8 blocks from LUN 0 to LUN 1, where LUN protected is write-protected.
static void copy_with_protected(unsigned protected)
{
	write_pattern(8);
	b.nexuses[0]->luns[protected]->is_write_protected = true;
	list_start(1, 0);
	add_cscd(b.lu);
	add_cscd(other);
	add_segment(0, 1, 8, 0, 0);
	xcopy(0, list_len);
}

static void a_write_protected_destination_is_not_written(void **state)
{
	copy_with_protected(1);
	assert_int_equal(c.code, DEVICE_FAILED);
}

static void a_write_protected_source_is_read(void **state)
{
	copy_with_protected(0);
	assert_int_equal(c.status, 0);
	expect_pattern(1, 0, 8);
}

static void obsolete_lu_id_types_are_ignored(void **state)
{
	list_start(1, 0);
	add_cscd(b.lu);
	list[17] = 0xc0;
	add_segment(0, 0, 8, 0, 100);
	assert_int_equal(xcopy(0, list_len), 0);
}

static void the_status_of_a_held_copy_is_told(void **state)
{
	receive(0, 1);
	assert_int_equal(c.code, SENSE_INVALID_FIELD_CDB);
	list_start(1, XCOPY_HOLD);
	add_cscd(b.lu);
	add_segment(0, 0, 8, 0, 100);
	xcopy(0, list_len);
	assert_int_equal(receive(0, 1), 0);
	assert_int_equal(c.data[4], 1);
	assert_int_equal(get_be16(c.data + 5), 1);
	assert_int_equal(get_be32(c.data + 8), 4);
}

static void the_failure_of_a_held_copy_is_told_once(void **state)
{
	list_start(9, XCOPY_HOLD);
	add_cscd(b.lu);
	add_segment(0, 5, 8, 0, 100);
	xcopy(0, list_len);
	assert_int_equal(receive(4, 9), 0);
	assert_int_equal(c.data[56], STATUS_CHECK_CONDITION);
	receive(4, 9);
	assert_int_equal(c.code, SENSE_INVALID_FIELD_CDB);
}

static void operating_parameters_are_what_the_parser_takes(void **state)
{
	assert_int_equal(receive(3, 0), 0);
	assert_int_equal(get_be16(c.data + 8), XCOPY_CSCD_MAX);
	assert_int_equal(get_be16(c.data + 10), XCOPY_SEGMENT_MAX);
	assert_int_equal(get_be32(c.data + 12), XCOPY_LIST_MAX);
	assert_int_equal(c.data[43], 2);
}

static void page_8f_lists_the_commands(void **state)
{
	assert_int_equal(BENCH_IN(&b, 0, &c, 1024, 0x12, 1, 0x8f, 4, 0, 0), 0);
	uint32_t at = 4, end = 4u + get_be16(c.data + 2);
	int last = -1;
	bool has_commands = false, has_limits = false;
	while (at < end) {
		assert_true(get_be16(c.data + at) > last);
		last = get_be16(c.data + at);
		assert_int_equal(get_be16(c.data + at + 2) % 4, 0);
		has_limits |= last == 0;
		has_commands |= last == 1 && c.data[at + 5] == 0x83;
		at += 4u + get_be16(c.data + at + 2);
	}
	assert_int_equal(at, end);
	assert_true(has_commands && has_limits);
}

static void an_aborted_copy_ends_without_touching_freed_memory(void **state)
{
	static struct bench_cmd copy;
	for (unsigned i = 0; i < 20; i++) {
		list_start(1, 0);
		add_cscd(b.lu);
		for (unsigned s = 0; s < XCOPY_SEGMENT_MAX; s++)
			add_segment(0, 0, 4096, 0, 4096);
		memset(&copy, 0, offsetof(struct bench_cmd, data));
		copy.cdb[0] = 0x83;
		put_be32(copy.cdb + 10, list_len);
		copy.cdb_len = 16;
		copy.out = list;
		copy.out_len = list_len;
		bench_start(&b, 0, &copy);
		bench_abort(&copy, false);
		bench_wait(&copy);
		assert_true(copy.is_aborted);
	}
}

static void a_lun_that_goes_away_ends_the_copy(void **state)
{
	static struct bench_cmd copy;
	list_start(1, 0);
	add_cscd(b.lu);
	add_cscd(other);
	for (unsigned s = 0; s < XCOPY_SEGMENT_MAX; s++)
		add_segment(0, 1, 8000, 0, 0);
	memset(&copy, 0, offsetof(struct bench_cmd, data));
	copy.cdb[0] = 0x83;
	put_be32(copy.cdb + 10, list_len);
	copy.cdb_len = 16;
	copy.out = list;
	copy.out_len = list_len;
	bench_start(&b, 0, &copy);
	bench_set_map(&b, 0, 1, (uint16_t[]){ 0 }, (struct lu *[]){ b.lu });
	bench_wait(&copy);
	assert_int_equal(copy.code, DEVICE_FAILED);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(blocks_go_from_one_end_to_the_other),
		T(blocks_go_to_another_lun),
		T(an_ordered_copy_does_not_wait_for_itself),
		T(a_cut_list_is_a_length_error),
		T(too_many_descriptors_are_told_apart),
		T(more_than_the_longest_list_is_a_length_error),
		T(unsupported_descriptor_types_are_named),
		T(an_index_past_the_descriptors_aborts_the_copy),
		T(a_segment_past_the_end_aborts_the_copy),
		T(a_lun_the_session_does_not_have_is_out_of_reach),
		T(a_reservation_on_the_destination_is_met),
		T(a_write_protected_destination_is_not_written),
		T(a_write_protected_source_is_read),
		T(obsolete_lu_id_types_are_ignored),
		T(the_status_of_a_held_copy_is_told),
		T(the_failure_of_a_held_copy_is_told_once),
		T(operating_parameters_are_what_the_parser_takes),
		T(page_8f_lists_the_commands),
		T(an_aborted_copy_ends_without_touching_freed_memory),
		T(a_lun_that_goes_away_ends_the_copy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
