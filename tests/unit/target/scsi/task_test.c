// SPDX-License-Identifier: BSD-2-Clause
// Life of a task: abort in every state, order by task attribute, queue depth, memory.
#include <errno.h>

#include "target/scsi/held_store.h"
#include "target/scsi/lu_state.h"

static struct bench_cmd cmds[4];
static uint8_t block[4096];

static struct bench_cmd *prepare(unsigned i, uint8_t opcode, uint8_t lba, uint8_t blocks)
{
	struct bench_cmd *k = &cmds[i];
	memset(k, 0, offsetof(struct bench_cmd, data));
	memcpy(k->cdb, (uint8_t[]){ opcode, 0, 0, 0, 0, lba, 0, 0, blocks, 0 }, 10);
	k->cdb_len = 10;
	k->out = block;
	if (opcode == 0x2a)
		k->out_len = blocks * 512u;
	else
		k->expected_in = blocks * 512u;
	return k;
}

static struct bench_cmd *begin(unsigned i, uint8_t opcode, uint8_t lba, uint8_t attr)
{
	struct bench_cmd *k = prepare(i, opcode, lba, 1);
	k->attr = attr;
	bench_start(&b, 0, k);
	return k;
}

static void an_abort_while_data_is_awaited_ends_at_once(void **state)
{
	start(NULL);
	struct bench_cmd *k = prepare(0, 0x2a, 0, 1);
	k->holds_data = true;
	bench_start(&b, 0, k);
	bench_wait_asked(k);
	bench_abort(k, false);
	assert_true(k->is_done);
	assert_true(k->is_aborted);
	assert_false(k->sends_aborted);
}

static void an_abort_with_status_is_task_aborted(void **state)
{
	start(NULL);
	struct bench_cmd *k = prepare(0, 0x2a, 0, 1);
	k->holds_data = true;
	bench_start(&b, 0, k);
	bench_wait_asked(k);
	bench_abort(k, true);
	assert_true(k->sends_aborted);
	assert_int_equal(k->status, STATUS_TASK_ABORTED);
}

static void data_that_comes_after_the_abort_is_not_used(void **state)
{
	start(NULL);
	struct bench_cmd *k = prepare(0, 0x2a, 0, 1);
	k->holds_data = k->holds_release = true;
	bench_start(&b, 0, k);
	bench_wait_asked(k);
	bench_abort(k, false);
	uint64_t order = k->order;
	k->is_done = false; // the bench would not send otherwise
	bench_send_data(k);
	assert_true(k->order == order);
	bench_release(k);
}

static void an_abort_at_the_backstore_waits_for_it(void **state)
{
	held_start(&(struct bench_options){ 0 });
	struct bench_cmd *k = begin(0, 0x28, 0, TASK_SIMPLE);
	held_wait(1);
	bench_abort(k, false);
	assert_false(k->is_done);
	held_go(0);
	bench_wait(k);
	assert_true(k->is_aborted);
	assert_int_equal(k->data_in, 0);
}

static void an_aborted_task_whose_io_fails_tells_no_error(void **state)
{
	int res = -5;
	held_start(&(struct bench_options){ 0 });
	struct bench_cmd *k = begin(0, 0x28, 0, TASK_SIMPLE);
	held_wait(1);
	bench_abort(k, false);
	bench_on_nexus(&b, 0, held_release_all, &res);
	bench_wait(k);
	assert_int_equal(k->code, 0);
}

static void an_abort_twice_is_one(void **state)
{
	held_start(&(struct bench_options){ 0 });
	struct bench_cmd *k = begin(0, 0x28, 0, TASK_SIMPLE);
	held_wait(1);
	bench_abort(k, true);
	bench_abort(k, false);
	held_go(0);
	bench_wait(k);
	assert_true(k->sends_aborted);
}

// A READ of two pieces over a store with buffers, the first of which waits to be taken.
static struct bench_cmd *read_two_pieces(void)
{
	held_start(&(struct bench_options){
		.attrs = (const char *[]){"max_transfer_kib=64", NULL}
	 });
	held_passes = true;
	struct bench_cmd *k = prepare(0, 0x28, 0, 200);
	k->holds_data = true;
	bench_start(&b, 0, k);
	bench_wait_asked(k);
	assert_int_equal(k->data_in, 65536);
	return k;
}

static void an_abort_while_a_piece_is_sent_ends_at_once(void **state)
{
	struct bench_cmd *k = read_two_pieces();
	bench_abort(k, false);
	assert_true(k->is_aborted);
	assert_int_equal(held_arrived(), 1);
}

static void a_piece_that_cannot_be_sent_ends_the_read(void **state)
{
	struct bench_cmd *k = read_two_pieces();
	k->data_result = -EPROTO;
	bench_send_data(k);
	bench_wait(k);
	assert_int_equal(k->code, SENSE_DATA_PHASE_ERROR);
	assert_int_equal(k->data_in, 0);
}

// A peer decides when it takes a piece.
static void a_piece_that_is_not_taken_keeps_no_blocks_from_others(void **state)
{
	struct bench_cmd *k = read_two_pieces(), *caw = &cmds[1];
	memset(caw, 0, offsetof(struct bench_cmd, data));
	memcpy(caw->cdb, (uint8_t[16]){ 0x89, [13] = 1 }, 16);
	caw->cdb_len = 16;
	caw->out = block;
	caw->out_len = 1024;
	bench_start(&b, 0, caw);
	bench_wait(caw);
	expect_good(caw->status);
	bench_send_data(k);
	bench_wait(k);
	expect_good(k->status);
	assert_int_equal(k->data_in, 200 * 512);
}

static struct buf *hoard[64];
static unsigned hoarded;

static void take_all(void *arg)
{
	struct worker *w = worker_self();
	while (hoarded < 64 && (hoard[hoarded] = buf_get(w, BUF_MAX)))
		hoarded++;
}

static void give_back(void *arg)
{
	while (hoarded)
		buf_put(hoard[--hoarded]);
}

static void a_task_without_buffers_waits_and_goes_on(void **state)
{
	held_start(&(struct bench_options){ .size = 16 << 20 });
	held_passes = true;
	bench_on_nexus(&b, 0, take_all, NULL);
	struct bench_cmd *k = prepare(0, 0x28, 0, 200);
	bench_start(&b, 0, k);
	bench_settle(&b);
	assert_false(k->is_done);
	bench_on_nexus(&b, 0, give_back, NULL);
	bench_wait(k);
	expect_good(k->status);
}

static void an_abort_while_buffers_are_awaited_ends_at_once(void **state)
{
	held_start(&(struct bench_options){ .size = 16 << 20 });
	bench_on_nexus(&b, 0, take_all, NULL);
	struct bench_cmd *k = prepare(0, 0x28, 0, 200);
	bench_start(&b, 0, k);
	bench_settle(&b);
	bench_abort(k, false);
	assert_true(k->is_aborted);
	bench_on_nexus(&b, 0, give_back, NULL);
}

static void a_reply_needs_no_pool(void **state)
{
	start(NULL);
	bench_on_nexus(&b, 0, take_all, NULL);
	int status = BENCH_IN(&b, 0, &c, 96, 0x12, 0, 0, 0, 96, 0);
	bench_on_nexus(&b, 0, give_back, NULL);
	expect_good(status);
	assert_int_equal(c.data_in, 96);
}

static sem_t home_goes_on, home_waits;

static void home_blocks(struct msg *m)
{
	sem_post(&home_waits);
	sem_wait(&home_goes_on);
}

static void an_abort_while_the_home_worker_has_it_ends_when_it_comes_back(void **state)
{
	static struct msg m;
	static uint8_t list[16];
	start(&(struct bench_options){ .workers = 2, .nexuses = 2 });
	unsigned away = b.lu->home == b.workers[0] ? 1 : 0;
	BENCH_IN(&b, away, &c, 16, 0x1a, 0x08, 0x0a, 0, 16, 0);
	memcpy(list + 4, c.data + 4, 12);
	list[8] |= 0x08;
	sem_init(&home_goes_on, 0, 0);
	sem_init(&home_waits, 0, 0);
	m.fn = home_blocks;
	worker_post(b.lu->home, &m);
	sem_wait(&home_waits);
	struct bench_cmd *k = &cmds[0];
	memset(k, 0, offsetof(struct bench_cmd, data));
	memcpy(k->cdb, (uint8_t[]){ 0x15, 0x10, 0, 0, 16, 0 }, 6);
	k->cdb_len = 6;
	k->out = list;
	k->out_len = 16;
	bench_start(&b, away, k);
	bench_abort(k, false);
	assert_false(k->is_done);
	sem_post(&home_goes_on);
	bench_wait(k);
	assert_true(k->is_aborted);
}

static void an_ordered_task_waits_for_older_ones(void **state)
{
	held_start(&(struct bench_options){ 0 });
	struct bench_cmd *first = begin(0, 0x28, 0, TASK_SIMPLE);
	struct bench_cmd *ordered = begin(1, 0x28, 1, TASK_ORDERED);
	bench_settle(&b);
	assert_int_equal(held_arrived(), 1);
	held_wait(1);
	held_go(0);
	bench_wait(first);
	bench_wait(ordered); // held_go() lets go what arrives meanwhile, too
	assert_true(first->order < ordered->order);
}

static void simple_tasks_wait_for_an_older_ordered_one(void **state)
{
	held_start(&(struct bench_options){ 0 });
	struct bench_cmd *ordered = begin(0, 0x28, 0, TASK_ORDERED);
	struct bench_cmd *a = begin(1, 0x28, 1, TASK_SIMPLE);
	struct bench_cmd *z = begin(2, 0x28, 2, TASK_SIMPLE);
	bench_settle(&b);
	assert_int_equal(held_arrived(), 1);
	held_go(0);
	bench_wait(ordered);
	bench_wait(a);
	bench_wait(z);
	assert_true(ordered->order < a->order);
}

static void head_of_queue_waits_for_nobody(void **state)
{
	held_start(&(struct bench_options){ 0 });
	struct bench_cmd *a = begin(0, 0x28, 0, TASK_SIMPLE);
	struct bench_cmd *o = begin(1, 0x28, 0, TASK_ORDERED);
	struct bench_cmd *h = begin(2, 0x28, 0, TASK_HEAD_OF_QUEUE);
	bench_settle(&b);
	assert_int_equal(held_arrived(), 2);
	held_go(0);
	bench_wait(a);
	bench_wait(h);
	bench_wait(o);
	assert_true(h->order < o->order);
}

static void an_aborted_ordered_task_blocks_nobody(void **state)
{
	held_start(&(struct bench_options){ 0 });
	struct bench_cmd *a = begin(0, 0x28, 0, TASK_SIMPLE);
	struct bench_cmd *o = begin(1, 0x28, 0, TASK_ORDERED);
	struct bench_cmd *s = begin(2, 0x28, 0, TASK_SIMPLE);
	bench_settle(&b);
	bench_abort(o, false);
	assert_true(o->is_aborted);
	held_wait(2);
	held_go(0);
	bench_wait(a);
	bench_wait(s);
	assert_false(s->is_aborted);
}

static void the_queue_depth_is_answered_with_task_set_full(void **state)
{
	held_start(&(struct bench_options){
		.attrs = (const char *[]){"queue_depth=2", NULL}
	   });
	begin(0, 0x28, 0, TASK_SIMPLE);
	begin(1, 0x28, 0, TASK_SIMPLE);
	struct bench_cmd *k = begin(2, 0x28, 0, TASK_SIMPLE);
	bench_wait(k);
	assert_int_equal(k->status, STATUS_TASK_SET_FULL);
	held_go(0);
	bench_wait(&cmds[0]);
	bench_wait(&cmds[1]);
}

static void ua_interlock_tells_a_status_that_left_no_sense(void **state)
{
	held_start(&(struct bench_options){
		.attrs = (const char *[]){"queue_depth=1", "emulate_ua_intlck_ctrl=2", NULL},
		.keeps_ua = true
	 });
	BENCH_IN(&b, 0, &c, 18, 0x03, 0, 0, 0, 18, 0); // takes 29/00, which stays otherwise
	begin(0, 0x28, 0, TASK_SIMPLE);
	held_wait(1);
	bench_wait(begin(1, 0x28, 0, TASK_SIMPLE));
	held_go(0);
	bench_wait(&cmds[0]);
	assert_int_equal(tur(0), SENSE(SK_UNIT_ATTENTION, 0x2c, 0x08));
	assert_int_equal(tur(0), SENSE(SK_UNIT_ATTENTION, 0x2c, 0x08));
}

static int held_read_with(struct bench_cmd *k, int res)
{
	held_read(k);
	bench_on_nexus(&b, 0, held_release_all, &res);
	bench_wait(k);
	return k->status;
}

// The buffer of a READ held another initiator's data before: it must not leave.
static void a_read_that_ends_busy_brings_nothing_of_what_others_wrote(void **state)
{
	held_start(&(struct bench_options){ .nexuses = 2 });
	held_passes = true;
	memset(block, 0x5e, sizeof block);
	expect_good(BENCH_OUT(&b, 1, &c, block, 512, 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0));
	held_passes = false;
	memset(cmds[0].data, 0, 512);
	assert_int_equal(held_read_with(&cmds[0], -EAGAIN), STATUS_BUSY);
	assert_int_not_equal(cmds[0].data[0], 0x5e);
	assert_int_equal(cmds[0].data_in, 0);
	assert_int_equal(cmds[0].wanted, 0);
}

static void a_read_that_fails_moved_nothing(void **state)
{
	held_start(&(struct bench_options){ 0 });
	assert_int_equal(held_read_with(&cmds[0], -EIO), STATUS_CHECK_CONDITION);
	assert_int_equal(cmds[0].data_in, 0);
	assert_int_equal(cmds[0].wanted, 0);
}

static void a_read_without_memory_is_busy_and_moved_nothing(void **state)
{
	held_start(&(struct bench_options){ 0 });
	assert_int_equal(held_read_with(&cmds[0], -ENOMEM), STATUS_BUSY);
	assert_int_equal(cmds[0].data_in, 0);
}

static void without_write_cache_every_write_is_durable(void **state)
{
	held_start(&(struct bench_options){ 0 });
	held_passes = true;
	expect_good(BENCH_OUT(&b, 0, &c, block, 512, 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0));
	assert_int_equal(held_fua, 1);
}

static void with_write_cache_only_fua_writes_are_durable(void **state)
{
	held_start(&(struct bench_options){
		.attrs = (const char *[]){"emulate_write_cache=1", NULL}
	   });
	held_passes = true;
	BENCH_OUT(&b, 0, &c, block, 512, 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0);
	assert_int_equal(held_fua, 0);
	BENCH_OUT(&b, 0, &c, block, 512, 0x2a, 0x08, 0, 0, 0, 0, 0, 0, 1, 0);
	assert_int_equal(held_fua, 1);
}

static void without_write_cache_what_is_unmapped_is_durable(void **state)
{
	static const uint8_t list[40] = { 0, 38, 0, 32, [19] = 1, [31] = 4, [35] = 1 };
	held_start(&(struct bench_options){
		.attrs = (const char *[]){"emulate_tpu=1", "emulate_tpws=1", NULL}
	     });
	held_passes = true;
	expect_good(BENCH_OUT(&b, 0, &c, list, 40, 0x42, 0, 0, 0, 0, 0, 0, 0, 40, 0));
	assert_int_equal(held_flushes, 1); // of both ranges together
	expect_good(BENCH_OUT(&b, 0, &c, NULL, 0, 0x93, 0x09, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0,
			      0));
	assert_int_equal(held_fua, 1);
}

static void synchronize_cache_flushes(void **state)
{
	held_start(&(struct bench_options){ 0 });
	held_passes = true;
	expect_good(BENCH_NONE(&b, 0, &c, 0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0));
	assert_int_equal(held_flushes, 1);
}

static void switching_the_cache_off_flushes_it(void **state)
{
	uint8_t list[24] = { 0 };
	held_start(&(struct bench_options){
		.attrs = (const char *[]){"emulate_write_cache=1", NULL}
	   });
	held_passes = true;
	BENCH_IN(&b, 0, &c, 24, 0x1a, 0x08, 0x08, 0, 24, 0);
	memcpy(list + 4, c.data + 4, 20);
	assert_int_equal(list[6] & 0x04, 0x04);
	list[6] = 0;
	expect_good(BENCH_OUT(&b, 0, &c, list, 24, 0x15, 0x10, 0, 0, 24, 0));
	assert_int_equal(held_flushes, 1);
	BENCH_OUT(&b, 0, &c, block, 512, 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0);
	assert_int_equal(held_fua, 1);
}

static void start_cached(void)
{
	held_start(&(struct bench_options){
		.attrs = (const char *[]){"emulate_write_cache=1", NULL}
	   });
}

static void clearing_emulate_write_cache_flushes_the_cache(void **state)
{
	start_cached();
	held_passes = true;
	BENCH_OUT(&b, 0, &c, block, 512, 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0);
	assert_int_equal(bench_attr(&b, "emulate_write_cache", "0"), 0);
	assert_int_equal(held_flushes, 1);
	assert_int_equal(bench_attr(&b, "emulate_write_cache", "0"), 0);
	assert_int_equal(bench_attr(&b, "emulate_write_cache", "1"), 0);
	assert_int_equal(held_flushes, 1);
}

static void a_cache_that_cannot_be_flushed_stays_on(void **state)
{
	start_cached();
	held_passes = true;
	held_flush_result = -EIO;
	assert_int_equal(bench_attr(&b, "emulate_write_cache", "0"), -EIO);
	assert_int_equal(b.lu->attr.emulate_write_cache, 1);
	BENCH_OUT(&b, 0, &c, block, 512, 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0);
	assert_int_equal(held_fua, 0);
}

// Starts a write, clears emulate_write_cache while the backstore has it, and lets it go on: the
// number of flushes before its status.
static unsigned flushes_of_a_write_in_flight(const uint8_t *cdb, unsigned cdb_len)
{
	struct bench_cmd *k = &cmds[0];
	start_cached();
	memset(k, 0, offsetof(struct bench_cmd, data));
	memcpy(k->cdb, cdb, cdb_len);
	k->cdb_len = cdb_len;
	k->out = block;
	k->out_len = 512;
	bench_start(&b, 0, k);
	held_wait(1);
	assert_int_equal(held_fua, 0);
	assert_int_equal(bench_attr(&b, "emulate_write_cache", "0"), 0);
	held_passes = true;
	held_flushes = 0;
	held_go(0);
	bench_wait(k);
	assert_int_equal(k->status, STATUS_GOOD);
	return held_flushes;
}

static void a_write_in_flight_when_the_cache_goes_is_flushed(void **state)
{
	assert_int_equal(
		flushes_of_a_write_in_flight((uint8_t[]){ 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0 }, 10),
		1);
}

static void a_write_same_in_flight_when_the_cache_goes_is_flushed(void **state)
{
	assert_int_equal(
		flushes_of_a_write_in_flight((uint8_t[]){ 0x41, 0, 0, 0, 0, 0, 0, 0, 1, 0 }, 10),
		1);
}

static void all_counters_count(void **state)
{
	struct lu_counters k;
	start(NULL);
	BENCH_OUT(&b, 0, &c, block, 1024, 0x2a, 0, 0, 0, 0, 0, 0, 0, 2, 0);
	BENCH_IN(&b, 0, &c, 512, 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0);
	BENCH_NONE(&b, 0, &c, 0xd1, 0, 0, 0, 0, 0);
	lu_counters_sum(b.lu, &k);
	assert_int_equal(k.op[LU_OP_READ].commands, 1);
	assert_int_equal(k.op[LU_OP_READ].bytes, 512);
	assert_int_equal(k.op[LU_OP_WRITE].commands, 1);
	assert_int_equal(k.op[LU_OP_WRITE].bytes, 1024);
	assert_int_equal(k.errors, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_abort_while_data_is_awaited_ends_at_once),
		T(an_abort_with_status_is_task_aborted),
		T(data_that_comes_after_the_abort_is_not_used),
		T(an_abort_at_the_backstore_waits_for_it),
		T(an_aborted_task_whose_io_fails_tells_no_error),
		T(an_abort_twice_is_one),
		T(an_abort_while_a_piece_is_sent_ends_at_once),
		T(a_piece_that_cannot_be_sent_ends_the_read),
		T(a_piece_that_is_not_taken_keeps_no_blocks_from_others),
		T(a_task_without_buffers_waits_and_goes_on),
		T(an_abort_while_buffers_are_awaited_ends_at_once),
		T(a_reply_needs_no_pool),
		T(an_abort_while_the_home_worker_has_it_ends_when_it_comes_back),
		T(an_ordered_task_waits_for_older_ones),
		T(simple_tasks_wait_for_an_older_ordered_one),
		T(head_of_queue_waits_for_nobody),
		T(an_aborted_ordered_task_blocks_nobody),
		T(the_queue_depth_is_answered_with_task_set_full),
		T(ua_interlock_tells_a_status_that_left_no_sense),
		T(a_read_that_ends_busy_brings_nothing_of_what_others_wrote),
		T(a_read_that_fails_moved_nothing),
		T(a_read_without_memory_is_busy_and_moved_nothing),
		T(without_write_cache_every_write_is_durable),
		T(with_write_cache_only_fua_writes_are_durable),
		T(without_write_cache_what_is_unmapped_is_durable),
		T(synchronize_cache_flushes),
		T(switching_the_cache_off_flushes_it),
		T(clearing_emulate_write_cache_flushes_the_cache),
		T(a_cache_that_cannot_be_flushed_stays_on),
		T(a_write_in_flight_when_the_cache_goes_is_flushed),
		T(a_write_same_in_flight_when_the_cache_goes_is_flushed),
		T(all_counters_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
