// SPDX-License-Identifier: BSD-2-Clause
// Writes of an ended nexus that are in the storage, and what others do meanwhile, on the same
// worker and on another one.
#include "target/scsi/ending.h"

#include "target/scsi/held_store.h"
#include "target/scsi/lu_state.h"

enum { OLD, SAME_WORKER = 2, OTHER_WORKER = 1 };

static struct bench_cmd cmds[6];
static uint8_t zeroes[65536];

static struct bench_cmd *send(unsigned i, unsigned nexus, const uint8_t *cdb, unsigned cdb_len,
			      uint32_t out_len, uint32_t in)
{
	struct bench_cmd *k = &cmds[i];
	memset(k, 0, offsetof(struct bench_cmd, data));
	memcpy(k->cdb, cdb, cdb_len);
	k->cdb_len = cdb_len;
	k->out = zeroes;
	k->out_len = out_len;
	k->expected_in = in;
	bench_start(&b, nexus, k);
	return k;
}

static struct bench_cmd *rw(unsigned i, unsigned nexus, uint8_t opcode, uint8_t lba, uint8_t blocks)
{
	bool writes = opcode == 0x2a;
	const uint8_t cdb[10] = { opcode, 0, 0, 0, 0, lba, 0, 0, blocks };
	return send(i, nexus, cdb, 10, writes ? blocks * 512u : 0, writes ? 0 : blocks * 512u);
}

static struct bench_cmd *caw(unsigned i, unsigned nexus, uint8_t lba)
{
	const uint8_t cdb[16] = { 0x89, [9] = lba, [13] = 1 };
	return send(i, nexus, cdb, 16, 1024, 0);
}

static void nexus_ends(void *arg)
{
	struct bench_cmd *k = arg;
	nexus_begin_end(b.nexuses[OLD]);
	task_abort(&k->task, false);
}

static unsigned arrived_at_last(void)
{
	for (unsigned i = 0; i < 100; i++)
		bench_settle(&b);
	return held_arrived();
}

// A write of two blocks from 8 on is in the storage, and its nexus ends.
static struct bench_cmd *begin(void)
{
	static const char *const attrs[] = { "emulate_tpu=1", NULL };
	held_start(&(struct bench_options){ .workers = 2, .nexuses = 3, .attrs = attrs });
	struct bench_cmd *k = rw(0, OLD, 0x2a, 8, 2);
	held_wait(1);
	bench_on_nexus(&b, OLD, nexus_ends, k);
	arrived_at_last();
	return k;
}

static void let_all_go(struct bench_cmd *k)
{
	while (!__atomic_load_n(&k->is_done, __ATOMIC_ACQUIRE)) {
		held_go(0);
		held_go(1);
		bench_settle(&b);
	}
	bench_wait(k);
}

// Neither has reached the storage before the old one is over.
static void both_wait(struct bench_cmd *old, struct bench_cmd *same, struct bench_cmd *other)
{
	assert_int_equal(arrived_at_last(), 1);
	let_all_go(old);
	let_all_go(same);
	let_all_go(other);
	assert_true(old->is_aborted);
	assert_true(old->order < same->order && old->order < other->order);
	expect_good(same->status);
	expect_good(other->status);
	assert_int_equal(lu_ended_writes(b.lu), 0);
}

// ---- claims ----

static void overlapping_writes_wait(void **state)
{
	struct bench_cmd *old = begin();
	assert_int_equal(lu_ended_writes(b.lu), 1);
	both_wait(old, rw(1, SAME_WORKER, 0x2a, 9, 4), rw(2, OTHER_WORKER, 0x2a, 7, 2));
}

static void compare_and_writes_wait(void **state)
{
	struct bench_cmd *old = begin();
	both_wait(old, caw(1, SAME_WORKER, 8), caw(2, OTHER_WORKER, 9));
}

static void unmaps_and_write_sames_wait(void **state)
{
	static const uint8_t same[16] = { 0x93, [9] = 8, [13] = 1 };
	static const uint8_t unmap[10] = { 0x42, [8] = 24 };
	struct bench_cmd *old = begin();
	memcpy(zeroes, (uint8_t[]){ 0, 22, 0, 16, [15] = 8, [19] = 1 }, 20);
	struct bench_cmd *k = send(1, SAME_WORKER, unmap, 10, 24, 0);
	assert_int_equal(arrived_at_last(), 1);
	both_wait(old, k, send(2, OTHER_WORKER, same, 16, 512, 0));
	memset(zeroes, 0, 24);
}

static void reads_and_writes_beside_it_do_not_wait(void **state)
{
	struct bench_cmd *old = begin();
	struct bench_cmd *reads = rw(1, SAME_WORKER, 0x28, 8, 2),
			 *below = rw(2, OTHER_WORKER, 0x2a, 6, 2),
			 *above = rw(3, SAME_WORKER, 0x2a, 10, 1);
	assert_int_equal(arrived_at_last(), 4);
	let_all_go(old);
	let_all_go(reads);
	let_all_go(below);
	let_all_go(above);
}

static void a_write_whose_data_comes_meanwhile_waits(void **state)
{
	held_start(&(struct bench_options){ .workers = 2, .nexuses = 3 });
	struct bench_cmd *k = &cmds[1];
	memset(k, 0, offsetof(struct bench_cmd, data));
	memcpy(k->cdb, (uint8_t[]){ 0x2a, 0, 0, 0, 0, 8, 0, 0, 1, 0 }, 10);
	k->cdb_len = 10;
	k->out = zeroes;
	k->out_len = 512;
	k->holds_data = true;
	bench_start(&b, OTHER_WORKER, k);
	bench_wait_asked(k);
	struct bench_cmd *old = rw(0, OLD, 0x2a, 8, 2);
	held_wait(1);
	bench_on_nexus(&b, OLD, nexus_ends, old);
	arrived_at_last();
	bench_send_data(k);
	assert_int_equal(arrived_at_last(), 1);
	let_all_go(old);
	let_all_go(k);
	assert_true(old->order < k->order);
}

static void a_write_without_its_data_ends_without_the_storage(void **state)
{
	held_start(&(struct bench_options){ .workers = 2, .nexuses = 3 });
	struct bench_cmd *old = &cmds[0];
	memset(old, 0, offsetof(struct bench_cmd, data));
	memcpy(old->cdb, (uint8_t[]){ 0x2a, 0, 0, 0, 0, 8, 0, 0, 1, 0 }, 10);
	old->cdb_len = 10;
	old->out = zeroes;
	old->out_len = 512;
	old->holds_data = true;
	bench_start(&b, OLD, old);
	bench_wait_asked(old);
	bench_on_nexus(&b, OLD, nexus_ends, old);
	bench_send_data(old);
	bench_wait(old);
	assert_true(old->is_aborted);
	assert_int_equal(arrived_at_last(), 0);
	assert_int_equal(lu_ended_writes(b.lu), 0);
}

static void a_waiting_write_can_be_aborted(void **state)
{
	struct bench_cmd *old = begin(), *k = rw(1, OTHER_WORKER, 0x2a, 8, 1);
	assert_int_equal(arrived_at_last(), 1);
	bench_abort(k, false);
	bench_wait(k);
	assert_true(k->is_aborted);
	let_all_go(old);
	assert_int_equal(held_arrived(), 1);
}

static void a_nexus_that_comes_meanwhile_waits_too(void **state)
{
	struct bench_cmd *old = begin();
	bench_relogin(&b, OTHER_WORKER);
	tur(OTHER_WORKER);
	both_wait(old, rw(1, SAME_WORKER, 0x2a, 8, 1), rw(2, OTHER_WORKER, 0x2a, 8, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(overlapping_writes_wait),
		T(compare_and_writes_wait),
		T(unmaps_and_write_sames_wait),
		T(reads_and_writes_beside_it_do_not_wait),
		T(a_write_whose_data_comes_meanwhile_waits),
		T(a_write_without_its_data_ends_without_the_storage),
		T(a_waiting_write_can_be_aborted),
		T(a_nexus_that_comes_meanwhile_waits_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
