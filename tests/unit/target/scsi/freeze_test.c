// SPDX-License-Identifier: BSD-2-Clause
// Freezes: the range a COMPARE AND WRITE owns, seen from its own and from another worker.
#include "target/scsi/held_store.h"

static struct bench_cmd cmds[6];
static uint8_t zeroes[65536];

static struct bench_cmd *rw(unsigned i, unsigned nexus, uint8_t opcode, uint8_t lba, uint8_t blocks)
{
	struct bench_cmd *k = &cmds[i];
	memset(k, 0, offsetof(struct bench_cmd, data));
	memcpy(k->cdb, (uint8_t[]){ opcode, 0, 0, 0, 0, lba, 0, 0, blocks, 0 }, 10);
	k->cdb_len = 10;
	k->out = zeroes;
	if (opcode == 0x2a)
		k->out_len = blocks * 512u;
	else
		k->expected_in = blocks * 512u;
	bench_start(&b, nexus, k);
	return k;
}

// COMPARE AND WRITE of zeroes to zeroes.
static struct bench_cmd *caw(unsigned i, unsigned nexus, uint8_t lba, uint8_t blocks)
{
	struct bench_cmd *k = &cmds[i];
	memset(k, 0, offsetof(struct bench_cmd, data));
	memcpy(k->cdb, (uint8_t[]){ 0x89, 0, 0, 0, 0, 0, 0, 0, 0, lba, 0, 0, 0, blocks, 0, 0 }, 16);
	k->cdb_len = 16;
	k->out = zeroes;
	k->out_len = blocks * 1024u;
	bench_start(&b, nexus, k);
	return k;
}

static void begin(void)
{
	held_start(&(struct bench_options){ .workers = 2, .nexuses = 3 });
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

static void an_overlapping_read_of_another_worker_waits(void **state)
{
	begin();
	struct bench_cmd *owner = caw(0, 0, 8, 2);
	held_wait(1);
	struct bench_cmd *k = rw(1, 1, 0x28, 9, 1);
	bench_settle(&b);
	assert_int_equal(held_arrived(), 1);
	let_all_go(owner);
	let_all_go(k);
	assert_true(owner->order < k->order);
	expect_good(k->status);
}

static void an_overlapping_write_of_the_same_worker_waits(void **state)
{
	begin();
	struct bench_cmd *owner = caw(0, 0, 8, 2);
	held_wait(1);
	struct bench_cmd *k = rw(1, 2, 0x2a, 7, 2);
	bench_settle(&b);
	assert_int_equal(held_arrived(), 1);
	let_all_go(owner);
	let_all_go(k);
	assert_true(owner->order < k->order);
}

static void a_range_beside_it_does_not_wait(void **state)
{
	begin();
	struct bench_cmd *owner = caw(0, 0, 8, 2);
	held_wait(1);
	struct bench_cmd *below = rw(1, 1, 0x28, 6, 2), *above = rw(2, 2, 0x28, 10, 1);
	held_wait(2);
	held_go(1);
	bench_wait(below);
	let_all_go(above);
	let_all_go(owner);
}

static void it_waits_for_an_overlapping_write_in_flight(void **state)
{
	begin();
	struct bench_cmd *k = rw(0, 1, 0x2a, 8, 1);
	held_wait(1);
	struct bench_cmd *owner = caw(1, 0, 8, 1);
	bench_settle(&b);
	assert_int_equal(held_arrived(), 1);
	held_go(1);
	bench_wait(k);
	held_wait(1);
	let_all_go(owner);
	expect_good(owner->status);
	assert_true(k->order < owner->order);
}

// A WRITE that the initiator sends no data for yet.
static struct bench_cmd *write_without_data(unsigned i, unsigned nexus, uint8_t lba)
{
	struct bench_cmd *k = &cmds[i];
	memset(k, 0, offsetof(struct bench_cmd, data));
	memcpy(k->cdb, (uint8_t[]){ 0x2a, 0, 0, 0, 0, lba, 0, 0, 1, 0 }, 10);
	k->cdb_len = 10;
	k->out = zeroes;
	k->out_len = 512;
	k->holds_data = true;
	bench_start(&b, nexus, k);
	bench_wait_asked(k);
	return k;
}

// After as many messages as any of these commands sends about.
static unsigned arrived_at_last(void)
{
	for (unsigned i = 0; i < 100; i++)
		bench_settle(&b);
	return held_arrived();
}

static void it_does_not_wait_for_data_that_a_peer_owes(void **state)
{
	begin();
	struct bench_cmd *k = write_without_data(0, 1, 8);
	struct bench_cmd *owner = caw(1, 0, 8, 1);
	unsigned arrived = arrived_at_last();
	bench_send_data(k);
	let_all_go(owner);
	let_all_go(k);
	assert_int_equal(arrived, 1);
	expect_good(owner->status);
	expect_good(k->status);
}

static void data_that_comes_while_the_range_is_owned_waits(void **state)
{
	begin();
	struct bench_cmd *k = write_without_data(0, 1, 8);
	struct bench_cmd *owner = caw(1, 0, 8, 1);
	arrived_at_last();
	bench_send_data(k);
	unsigned arrived = arrived_at_last();
	let_all_go(owner);
	let_all_go(k);
	assert_int_equal(arrived, 1);
	expect_good(k->status);
	assert_true(owner->order < k->order);
}

static void overlapping_owners_go_one_after_the_other(void **state)
{
	begin();
	struct bench_cmd *first = caw(0, 0, 8, 2);
	held_wait(1);
	struct bench_cmd *second = caw(1, 1, 9, 2);
	bench_settle(&b);
	assert_int_equal(held_arrived(), 1);
	let_all_go(first);
	let_all_go(second);
	expect_good(first->status);
	expect_good(second->status);
	assert_true(first->order < second->order);
}

static void owners_of_other_ranges_go_together(void **state)
{
	begin();
	struct bench_cmd *first = caw(0, 0, 8, 2), *second = caw(1, 1, 10, 2);
	held_wait(2);
	let_all_go(first);
	let_all_go(second);
}

static void an_aborted_owner_lets_the_others_go_on(void **state)
{
	begin();
	struct bench_cmd *owner = caw(0, 0, 8, 2);
	held_wait(1);
	struct bench_cmd *k = rw(1, 1, 0x28, 8, 1);
	bench_abort(owner, false);
	let_all_go(owner);
	assert_true(owner->is_aborted);
	let_all_go(k);
	expect_good(k->status);
}

static void an_owner_aborted_while_it_waits_never_owns(void **state)
{
	begin();
	struct bench_cmd *k = rw(0, 1, 0x2a, 8, 1);
	held_wait(1);
	struct bench_cmd *owner = caw(1, 0, 8, 1);
	bench_settle(&b);
	bench_abort(owner, false);
	held_go(1);
	bench_wait(k);
	bench_wait(owner);
	assert_true(owner->is_aborted);
	assert_int_equal(held_arrived(), 1);
	let_all_go(rw(2, 1, 0x28, 8, 1));
}

static void a_nexus_that_comes_meanwhile_respects_it(void **state)
{
	held_start(&(struct bench_options){ .workers = 2, .nexuses = 2 });
	struct bench_cmd *owner = caw(0, 0, 8, 2);
	held_wait(1);
	bench_relogin(&b, 1);
	tur(1);
	struct bench_cmd *k = rw(1, 1, 0x28, 8, 1);
	bench_settle(&b);
	assert_int_equal(held_arrived(), 1);
	let_all_go(owner);
	let_all_go(k);
}

static void memory_that_is_being_sent_does_not_change(void **state)
{
	start(&(struct bench_options){ .workers = 2, .nexuses = 2 });
	struct bench_cmd *k = &cmds[0];
	memset(k, 0, offsetof(struct bench_cmd, data));
	memcpy(k->cdb, (uint8_t[]){ 0x28, 0, 0, 0, 0, 8, 0, 0, 1, 0 }, 10);
	k->cdb_len = 10;
	k->expected_in = 512;
	k->holds_release = true;
	bench_start(&b, 1, k);
	bench_wait(k);
	struct bench_cmd *owner = caw(1, 0, 8, 1);
	bench_settle(&b);
	assert_false(__atomic_load_n(&owner->is_done, __ATOMIC_ACQUIRE));
	bench_release(k);
	bench_wait(owner);
	expect_good(owner->status);
}

static void a_reset_ends_owner_and_waiters(void **state)
{
	begin();
	struct bench_cmd *k = rw(0, 1, 0x2a, 8, 1);
	held_wait(1);
	struct bench_cmd *owner = caw(1, 0, 8, 1);
	bench_settle(&b);
	struct bench_cmd *later = rw(2, 2, 0x28, 8, 1);
	bench_settle(&b);
	assert_int_equal(held_arrived(), 1);
	held_passes = true;
	held_go(1);
	assert_int_equal(bench_tmf(&b, 0, TMF_LU_RESET, 0), TMF_COMPLETE);
	bench_wait(k);
	bench_wait(owner);
	bench_wait(later);
	assert_int_equal(tur(1), SENSE(SK_UNIT_ATTENTION, 0x29, 0x03));
	let_all_go(rw(3, 1, 0x28, 8, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_overlapping_read_of_another_worker_waits),
		T(an_overlapping_write_of_the_same_worker_waits),
		T(a_range_beside_it_does_not_wait),
		T(it_waits_for_an_overlapping_write_in_flight),
		T(it_does_not_wait_for_data_that_a_peer_owes),
		T(data_that_comes_while_the_range_is_owned_waits),
		T(overlapping_owners_go_one_after_the_other),
		T(owners_of_other_ranges_go_together),
		T(an_aborted_owner_lets_the_others_go_on),
		T(an_owner_aborted_while_it_waits_never_owns),
		T(a_nexus_that_comes_meanwhile_respects_it),
		T(memory_that_is_being_sent_does_not_change),
		T(a_reset_ends_owner_and_waiters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
