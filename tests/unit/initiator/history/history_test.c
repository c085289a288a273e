// SPDX-License-Identifier: BSD-2-Clause
// Histories made by hand, legal and not: acknowledged, failed, unknown and concurrent writes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/history/history.h"

enum { BLOCKS = 16, SIZE = 128, OPS = 64, DISK = 7, WRITER = 3 };

struct rig {
	struct history *h;
	struct history_violation last;
	unsigned count;
	uint8_t zeros[BLOCKS * SIZE];
};

// A write with what it has written.
struct write {
	int op;
	uint8_t data[BLOCKS * SIZE];
};

static void note(void *arg, const struct history_violation *v)
{
	struct rig *r = arg;
	r->last = *v;
	r->count++;
}

static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof *r);
	struct history_config c = { .disk = DISK,
				    .blocks = BLOCKS,
				    .block_size = SIZE,
				    .ops_max = OPS,
				    .violation = note,
				    .arg = r };
	struct err e = { 0 };
	assert_int_equal(history_new(&r->h, &c, &e), 0);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;
	history_free(r->h);
	free(r);
	return 0;
}

static struct write begin_n(struct rig *r, uint64_t block, uint32_t count, uint64_t now)
{
	struct write w;
	w.op = history_write(r->h, block, count, WRITER, now, w.data);
	assert_true(w.op >= 0);
	return w;
}

static struct write begin(struct rig *r, uint64_t now)
{
	return begin_n(r, 0, 1, now);
}

static unsigned end(struct rig *r, const struct write *w, enum history_outcome o, uint64_t now)
{
	return history_end(r->h, w->op, o, now, NULL);
}

static struct write written(struct rig *r, uint64_t start, uint64_t stop, enum history_outcome o)
{
	struct write w = begin(r, start);
	assert_int_equal(end(r, &w, o, stop), 0);
	return w;
}

// A read of block 0 that returns data; returns the number of violations.
static unsigned reads(struct rig *r, uint64_t start, uint64_t stop, const void *data)
{
	int op = history_read(r->h, 0, 1, start);
	assert_true(op >= 0);
	return history_end(r->h, op, HISTORY_OK, stop, data);
}

// --- acknowledged writes ---

static void what_was_acknowledged_last_is_read(void **state)
{
	struct rig *r = *state;
	assert_int_equal(reads(r, 1, 2, r->zeros), 0);
	struct write a = written(r, 3, 4, HISTORY_OK), b = written(r, 5, 6, HISTORY_OK);
	assert_int_equal(reads(r, 7, 8, b.data), 0);
	assert_int_equal(reads(r, 9, 10, a.data), 1);
}

static void zeros_after_an_acknowledged_write_are_lost_data(void **state)
{
	struct rig *r = *state;
	written(r, 3, 4, HISTORY_OK);
	assert_int_equal(reads(r, 5, 6, r->zeros), 1);
	assert_int_equal(r->last.kind, HISTORY_LOST);
	assert_int_equal(r->last.newer.seq, 1);
}

static void an_old_value_after_a_newer_one_was_seen_came_back(void **state)
{
	struct rig *r = *state;
	struct write a = written(r, 10, 20, HISTORY_OK), b = written(r, 30, 40, HISTORY_OK);
	assert_int_equal(reads(r, 41, 42, b.data), 0);
	assert_int_equal(reads(r, 50, 60, a.data), 1);
	assert_int_equal(r->last.kind, HISTORY_CAME_BACK);
	assert_int_equal(r->last.old.seq, 1);
	assert_int_equal(r->last.old.time_ns, 10);
	assert_int_equal(r->last.newer.seq, 2);
	assert_int_equal(r->last.newer.writer, WRITER);
	assert_int_equal(r->last.read_start_ns, 50);
	assert_int_equal(r->last.read_end_ns, 60);
}

static void a_violation_is_reported_once(void **state)
{
	struct rig *r = *state;
	struct write a = written(r, 1, 2, HISTORY_OK), b = written(r, 3, 4, HISTORY_OK);
	assert_int_equal(reads(r, 5, 6, a.data), 1);
	assert_int_equal(reads(r, 7, 8, a.data), 0);
	assert_int_equal(reads(r, 9, 10, b.data), 1);
	assert_int_equal(history_violations(r->h), 2);
}

// --- concurrent operations ---

static void a_read_may_return_either_of_a_write_under_way(void **state)
{
	struct rig *r = *state;
	struct write a = written(r, 1, 2, HISTORY_OK), b = begin(r, 3);
	assert_int_equal(reads(r, 4, 5, a.data), 0);
	assert_int_equal(reads(r, 6, 7, b.data), 0);
	assert_int_equal(end(r, &b, HISTORY_OK, 8), 0);
	assert_int_equal(reads(r, 9, 10, b.data), 0);
}

static void a_write_under_way_that_was_seen_does_not_go_again(void **state)
{
	struct rig *r = *state;
	struct write a = written(r, 1, 2, HISTORY_OK), b = begin(r, 3);
	assert_int_equal(reads(r, 4, 5, b.data), 0);
	assert_int_equal(reads(r, 6, 7, a.data), 1);
	assert_int_equal(r->last.kind, HISTORY_CAME_BACK);
}

static void of_two_concurrent_writes_either_may_stay_but_no_longer_change(void **state)
{
	struct rig *r = *state;
	struct write a = begin(r, 1), b = begin(r, 2);
	assert_int_equal(end(r, &a, HISTORY_OK, 3), 0);
	assert_int_equal(end(r, &b, HISTORY_OK, 4), 0);
	assert_int_equal(reads(r, 5, 6, a.data), 0);
	assert_int_equal(reads(r, 7, 8, a.data), 0);
	assert_int_equal(reads(r, 9, 10, b.data), 1);
}

static void a_read_that_began_before_the_newer_write_may_return_the_older(void **state)
{
	struct rig *r = *state;
	struct write a = written(r, 1, 2, HISTORY_OK);
	int op = history_read(r->h, 0, 1, 3);
	struct write b = written(r, 4, 5, HISTORY_OK), c = written(r, 6, 7, HISTORY_OK);
	assert_int_equal(reads(r, 8, 9, c.data), 0);
	assert_int_equal(history_end(r->h, op, HISTORY_OK, 10, a.data), 0);
	assert_int_equal(reads(r, 11, 12, b.data), 1);
}

static void concurrent_reads_may_disagree_later_ones_may_not(void **state)
{
	struct rig *r = *state;
	struct write a = written(r, 1, 2, HISTORY_OK), b = begin(r, 3);
	int one = history_read(r->h, 0, 1, 4), two = history_read(r->h, 0, 1, 5);
	assert_int_equal(history_end(r->h, one, HISTORY_OK, 6, b.data), 0);
	assert_int_equal(history_end(r->h, two, HISTORY_OK, 7, a.data), 0);
	assert_int_equal(reads(r, 8, 9, a.data), 1);
}

// --- failed and unknown outcomes ---

static void an_unknown_write_may_show_at_any_time_without_a_newer_one(void **state)
{
	struct rig *r = *state;
	struct write a = written(r, 1, 2, HISTORY_OK), b = written(r, 3, 4, HISTORY_UNKNOWN);
	assert_int_equal(reads(r, 5, 6, a.data), 0);
	assert_int_equal(reads(r, 100, 101, b.data), 0);
	assert_int_equal(reads(r, 102, 103, a.data), 1);
}

static void an_unknown_write_after_a_newer_acknowledged_one_came_back(void **state)
{
	struct rig *r = *state;
	struct write a = written(r, 1, 2, HISTORY_UNKNOWN), b = written(r, 3, 4, HISTORY_OK);
	assert_int_equal(reads(r, 5, 6, b.data), 0);
	assert_int_equal(reads(r, 7, 8, a.data), 1);
	assert_int_equal(r->last.kind, HISTORY_CAME_BACK);
}

static void an_unknown_write_may_show_while_the_newer_one_is_under_way(void **state)
{
	struct rig *r = *state;
	struct write a = written(r, 1, 2, HISTORY_UNKNOWN), b = begin(r, 3);
	assert_int_equal(reads(r, 4, 5, a.data), 0);
	assert_int_equal(end(r, &b, HISTORY_OK, 6), 0);
	assert_int_equal(reads(r, 7, 8, b.data), 0);
}

static void an_unknown_write_and_one_that_began_before_its_end_have_no_order(void **state)
{
	struct rig *r = *state;
	struct write a = begin(r, 1), b = begin(r, 2);
	assert_int_equal(end(r, &a, HISTORY_UNKNOWN, 3), 0);
	assert_int_equal(end(r, &b, HISTORY_OK, 4), 0);
	assert_int_equal(reads(r, 5, 6, b.data), 0);
	assert_int_equal(reads(r, 7, 8, a.data), 0);
}

static void of_several_unknown_ones_each_may_show_in_turn(void **state)
{
	struct rig *r = *state;
	struct write a = written(r, 1, 2, HISTORY_UNKNOWN), b = written(r, 3, 4, HISTORY_UNKNOWN);
	assert_int_equal(reads(r, 5, 6, r->zeros), 0);
	assert_int_equal(reads(r, 7, 8, b.data), 0);
	assert_int_equal(reads(r, 9, 10, a.data), 0);
	assert_int_equal(reads(r, 11, 12, b.data), 1);
}

static void an_unknown_write_that_shows_before_the_newer_one_ends_and_stays_came_back(void **state)
{
	struct rig *r = *state;
	struct write a = written(r, 1, 2, HISTORY_UNKNOWN), b = begin(r, 3);
	assert_int_equal(reads(r, 4, 5, b.data), 0);
	assert_int_equal(reads(r, 6, 7, a.data), 0);
	assert_int_equal(end(r, &b, HISTORY_OK, 8), 1);
	assert_int_equal(r->last.old.seq, 1);
	assert_int_equal(r->last.newer.seq, 2);
}

static void a_failed_write_takes_effect_before_its_end_or_not(void **state)
{
	struct rig *r = *state;
	struct write a = written(r, 1, 2, HISTORY_OK), b = written(r, 3, 4, HISTORY_FAILED);
	assert_int_equal(reads(r, 5, 6, a.data), 0);
	assert_int_equal(reads(r, 7, 8, b.data), 1);
}

static void a_failed_write_that_is_seen_first_is_valid(void **state)
{
	struct rig *r = *state;
	struct write a = written(r, 1, 2, HISTORY_OK), b = written(r, 3, 4, HISTORY_FAILED);
	assert_int_equal(reads(r, 5, 6, b.data), 0);
	assert_int_equal(reads(r, 7, 8, a.data), 1);
}

// --- requests of several blocks, and other data ---

static void torn_blocks_of_an_unknown_request_are_valid_until_they_are_overwritten(void **state)
{
	struct rig *r = *state;
	struct write a = begin_n(r, 4, 4, 1);
	assert_int_equal(end(r, &a, HISTORY_OK, 2), 0);
	struct write b = begin_n(r, 4, 4, 3);
	assert_int_equal(end(r, &b, HISTORY_UNKNOWN, 4), 0);
	uint8_t torn[4 * SIZE];
	memcpy(torn, b.data, sizeof torn);
	memcpy(torn + SIZE, a.data + SIZE, 2 * SIZE);
	int op = history_read(r->h, 4, 4, 5);
	assert_int_equal(history_end(r->h, op, HISTORY_OK, 6, torn), 0);
	struct write c = begin_n(r, 4, 4, 7);
	assert_int_equal(end(r, &c, HISTORY_OK, 8), 0);
	memcpy(torn, c.data, sizeof torn);
	memcpy(torn + SIZE, b.data + SIZE, 2 * SIZE);
	op = history_read(r->h, 4, 4, 9);
	assert_int_equal(history_end(r->h, op, HISTORY_OK, 10, torn), 2);
	assert_int_equal(r->last.block, 6);
}

static void each_torn_block_of_an_acknowledged_request_is_reported(void **state)
{
	struct rig *r = *state;
	struct write a = begin_n(r, 0, 8, 1);
	assert_int_equal(end(r, &a, HISTORY_OK, 2), 0);
	memset(a.data + 2 * SIZE, 0, 3 * SIZE);
	int op = history_read(r->h, 0, 8, 3);
	assert_int_equal(history_end(r->h, op, HISTORY_OK, 4, a.data), 3);
	assert_int_equal(r->count, 3);
	assert_int_equal(r->last.kind, HISTORY_LOST);
}

static void a_block_that_is_torn_within_is_garbage(void **state)
{
	struct rig *r = *state;
	struct write a = written(r, 1, 2, HISTORY_OK), b = written(r, 3, 4, HISTORY_OK);
	memcpy(b.data + SIZE / 2, a.data + SIZE / 2, SIZE / 2);
	assert_int_equal(reads(r, 5, 6, b.data), 1);
	assert_int_equal(r->last.kind, HISTORY_GARBAGE);
	assert_int_equal(r->last.newer.seq, 2);
}

static void the_stamp_of_another_block_is_misplaced(void **state)
{
	struct rig *r = *state;
	struct write a = begin_n(r, 0, 2, 1);
	assert_int_equal(end(r, &a, HISTORY_OK, 2), 0);
	assert_int_equal(reads(r, 3, 4, a.data + SIZE), 1);
	assert_int_equal(r->last.kind, HISTORY_MISPLACED);
}

static void a_read_that_failed_says_nothing(void **state)
{
	struct rig *r = *state;
	struct write a = written(r, 1, 2, HISTORY_OK);
	int op = history_read(r->h, 0, 1, 3);
	assert_int_equal(history_end(r->h, op, HISTORY_UNKNOWN, 4, r->zeros), 0);
	assert_int_equal(reads(r, 5, 6, a.data), 0);
}

// --- what is asked ---

static void legal_are_the_last_acknowledged_and_what_is_open_or_under_way(void **state)
{
	struct rig *r = *state;
	uint64_t seq[4];
	assert_int_equal(history_legal(r->h, 0, 1, seq, 4), 1);
	assert_int_equal(seq[0], 0);
	written(r, 2, 3, HISTORY_UNKNOWN);
	written(r, 4, 5, HISTORY_OK);
	written(r, 6, 7, HISTORY_UNKNOWN);
	begin(r, 8);
	assert_int_equal(history_legal(r->h, 0, 9, seq, 4), 3);
	assert_int_equal(seq[0], 4);
	assert_int_equal(seq[1], 3);
	assert_int_equal(seq[2], 2);
}

static void the_text_has_the_block_both_writes_and_the_times(void **state)
{
	struct rig *r = *state;
	char text[HISTORY_TEXT_MAX];
	written(r, 1000000000, 2000000000, HISTORY_OK);
	assert_int_equal(reads(r, 3000000000, 4500000000, r->zeros), 1);
	history_text(&r->last, 0, text);
	assert_string_equal(text,
			    "lost: block 0: read from 3.000000 to 4.500000 s: has write 0 of "
			    "writer 0, begun 0.000000, ended 0.000000; should have write 1 of "
			    "writer 3, begun 1.000000, effective by 2.000000");
}

static void memory_is_bounded_and_room_returns(void **state)
{
	struct rig *r = *state;
	uint8_t data[SIZE];
	uint64_t now = 1;
	int op;
	while ((op = history_write(r->h, 0, 1, WRITER, now, data)) >= 0)
		history_end(r->h, op, HISTORY_UNKNOWN, now + 1, NULL), now += 2;
	assert_int_equal(op, -EBUSY);
	assert_int_equal(now / 2, HISTORY_VALUES_MAX - 1);
	assert_int_equal(reads(r, now, now + 1, r->zeros), 0);
	assert_int_equal(history_write(r->h, BLOCKS, 1, WRITER, now, data), -EINVAL);
	assert_int_equal(history_write(r->h, BLOCKS - 1, 2, WRITER, now, data), -EINVAL);
	assert_int_equal(history_read(r->h, 0, 0, now), -EINVAL);
	for (int i = 0; i < OPS; i++)
		assert_true(history_read(r->h, 1, 1, now) >= 0);
	assert_int_equal(history_read(r->h, 1, 1, now), -EBUSY);
}

static void many_operations_leave_no_values_behind(void **state)
{
	struct rig *r = *state;
	struct write w;
	uint64_t now = 1;
	for (int i = 0; i < 300000; i++, now += 4) {
		w = begin_n(r, i % BLOCKS, 1, now);
		assert_int_equal(end(r, &w, i % 7 ? HISTORY_OK : HISTORY_UNKNOWN, now + 1), 0);
		int op = history_read(r->h, i % BLOCKS, 1, now + 2);
		assert_int_equal(history_end(r->h, op, HISTORY_OK, now + 3, w.data), 0);
	}
	uint64_t seq[2];
	assert_int_equal(history_legal(r->h, 5, now, seq, 2), 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	static const struct CMUnitTest tests[] = {
		TEST(what_was_acknowledged_last_is_read),
		TEST(zeros_after_an_acknowledged_write_are_lost_data),
		TEST(an_old_value_after_a_newer_one_was_seen_came_back),
		TEST(a_violation_is_reported_once),
		TEST(a_read_may_return_either_of_a_write_under_way),
		TEST(a_write_under_way_that_was_seen_does_not_go_again),
		TEST(of_two_concurrent_writes_either_may_stay_but_no_longer_change),
		TEST(a_read_that_began_before_the_newer_write_may_return_the_older),
		TEST(concurrent_reads_may_disagree_later_ones_may_not),
		TEST(an_unknown_write_may_show_at_any_time_without_a_newer_one),
		TEST(an_unknown_write_after_a_newer_acknowledged_one_came_back),
		TEST(an_unknown_write_may_show_while_the_newer_one_is_under_way),
		TEST(an_unknown_write_and_one_that_began_before_its_end_have_no_order),
		TEST(of_several_unknown_ones_each_may_show_in_turn),
		TEST(an_unknown_write_that_shows_before_the_newer_one_ends_and_stays_came_back),
		TEST(a_failed_write_takes_effect_before_its_end_or_not),
		TEST(a_failed_write_that_is_seen_first_is_valid),
		TEST(torn_blocks_of_an_unknown_request_are_valid_until_they_are_overwritten),
		TEST(each_torn_block_of_an_acknowledged_request_is_reported),
		TEST(a_block_that_is_torn_within_is_garbage),
		TEST(the_stamp_of_another_block_is_misplaced),
		TEST(a_read_that_failed_says_nothing),
		TEST(legal_are_the_last_acknowledged_and_what_is_open_or_under_way),
		TEST(the_text_has_the_block_both_writes_and_the_times),
		TEST(memory_is_bounded_and_room_returns),
		TEST(many_operations_leave_no_values_behind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
