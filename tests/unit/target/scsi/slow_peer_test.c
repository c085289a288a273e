// SPDX-License-Identifier: BSD-2-Clause
// What an initiator that does not send or does not read holds up: nothing of the others' for
// longer than a limit.
#include "target/scsi/copy/results.h"
#include "target/scsi/held_store.h"
#include "target/scsi/nexus_ops.h"

static struct bench_cmd cmds[4];
static uint8_t zeroes[65536];

static struct bench_cmd *prepare(unsigned i, const void *cdb, unsigned len)
{
	struct bench_cmd *k = &cmds[i];
	memset(k, 0, offsetof(struct bench_cmd, data));
	memcpy(k->cdb, cdb, len);
	k->cdb_len = len;
	return k;
}

// Starts a command of one block whose data-out does not come.
static struct bench_cmd *owing(unsigned i, unsigned nexus, uint8_t opcode, uint8_t flags,
			       uint8_t attr)
{
	struct bench_cmd *k = prepare(i, (uint8_t[]){ opcode, flags, 0, 0, 0, 8, 0, 0, 1, 0 }, 10);
	k->attr = attr;
	k->out = zeroes;
	k->out_len = 512;
	k->holds_data = true;
	bench_start(&b, nexus, k);
	bench_wait_asked(k);
	return k;
}

static struct bench_cmd *reading(unsigned i, unsigned nexus, uint8_t lba)
{
	struct bench_cmd *k = prepare(i, (uint8_t[]){ 0x28, 0, 0, 0, 0, lba, 0, 0, 1, 0 }, 10);
	k->expected_in = 512;
	bench_start(&b, nexus, k);
	return k;
}

static struct bench_cmd *populate(unsigned i, unsigned nexus, uint8_t lba)
{
	static uint8_t list[32] = { 0, 30, [15] = 16 };
	list[23] = lba;
	list[27] = 4;
	struct bench_cmd *k = prepare(i, (uint8_t[16]){ 0x83, 0x10, [9] = 5, [13] = 32 }, 16);
	k->out = list;
	k->out_len = sizeof list;
	bench_start(&b, nexus, k);
	return k;
}

// Done after as many messages as any of these commands sends about.
static bool is_done(const struct bench_cmd *k)
{
	for (unsigned i = 0; i < 100; i++)
		bench_settle(&b);
	return __atomic_load_n(&k->is_done, __ATOMIC_ACQUIRE);
}

static void populate_token_holds_up_nobody(void **state)
{
	start(&(struct bench_options){ .workers = 2, .nexuses = 3 });
	struct bench_cmd *slow = owing(0, 1, 0x2a, 0, TASK_SIMPLE);
	struct bench_cmd *token = populate(1, 0, 8);
	bool waits = !is_done(token); // the disk's memory may be written to
	struct bench_cmd *same = reading(2, 2, 8), *other = reading(3, 1, 99);
	bool goes_on = is_done(same) && is_done(other);
	bench_send_data(slow);
	bench_wait(token);
	bench_wait(same);
	bench_wait(other);
	expect_good(token->status);
	assert_true(waits);
	assert_true(goes_on);
}

static void populate_token_does_not_wait_for_other_blocks(void **state)
{
	start(&(struct bench_options){ .workers = 2, .nexuses = 2 });
	struct bench_cmd *slow = owing(0, 1, 0x2a, 0, TASK_SIMPLE);
	struct bench_cmd *token = populate(1, 0, 9);
	bool waits = !is_done(token);
	bench_send_data(slow);
	bench_wait(token);
	assert_false(waits);
}

// VERIFY with BYTCHK, which a write-protected path permits.
static void populate_token_does_not_wait_for_a_verify(void **state)
{
	start(&(struct bench_options){ .workers = 2, .nexuses = 2 });
	struct bench_cmd *slow = owing(0, 1, 0x2f, 0x02, TASK_SIMPLE);
	struct bench_cmd *token = populate(1, 0, 8);
	bool waits = !is_done(token);
	bench_send_data(slow);
	bench_wait(token);
	assert_false(waits);
}

static void a_write_that_begins_after_the_token_revokes_it(void **state)
{
	held_start(&(struct bench_options){ .workers = 2, .nexuses = 2 });
	held_passes = true;
	struct bench_cmd *slow = owing(0, 1, 0x2a, 0, TASK_SIMPLE);
	bench_wait(populate(1, 0, 8));
	BENCH_IN(&b, 0, &c, 1024, 0x84, 0x07, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0);
	uint8_t list[536 + 16] = { 2, 38, [534] = 0, [535] = 16, [543] = 20, [547] = 4 };
	memcpy(list + 16, c.data + 38, ROD_TOKEN_LEN);
	bench_send_data(slow);
	bench_wait(slow);
	BENCH_OUT(&b, 0, &c, list, sizeof list, 0x83, 0x11, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0,
		  sizeof list >> 8, sizeof list & 0xff, 0, 0);
	expect_code(SENSE(SK_ILLEGAL_REQUEST, 0x23, 0x06));
}

static void sanitize_does_not_wait_for_a_verify(void **state)
{
	start(&(struct bench_options){ .workers = 2, .nexuses = 2 });
	struct bench_cmd *slow = owing(0, 1, 0x2f, 0x02, TASK_SIMPLE);
	struct bench_cmd *k = prepare(1, (uint8_t[10]){ 0x48, 1, [8] = 5 }, 10);
	k->out = (uint8_t[]){ 1, 0, 0, 1, 0 };
	k->out_len = 5;
	bench_start(&b, 0, k);
	bench_wait(k);
	expect_good(k->status);
	bench_send_data(slow);
	bench_wait(slow);
	expect_good(slow->status);
}

static void an_ordered_task_holds_up_its_own_initiator_alone(void **state)
{
	start(&(struct bench_options){ .nexuses = 2 });
	struct bench_cmd *slow = owing(0, 1, 0x2f, 0x02, TASK_ORDERED);
	struct bench_cmd *own = reading(1, 1, 0), *others = reading(2, 0, 0);
	bool waits = !is_done(own), others_wait = !is_done(others);
	bench_send_data(slow);
	bench_wait(own);
	bench_wait(others);
	assert_true(waits);
	assert_false(others_wait);
}

static sem_t told;
static struct nexus *overdue;

static void on_overdue(struct nexus *n, uint32_t seconds)
{
	__atomic_store_n(&overdue, n, __ATOMIC_RELAXED);
	sem_post(&told);
}

static void no_notice(struct nexus *n, uint16_t lun, uint32_t sense_code)
{
}

static void watch(void *arg)
{
	static const struct nexus_ops ops = { .notice = no_notice, .overdue = on_overdue };
	((struct nexus *)arg)->ops = &ops;
}

static void start_watched(void)
{
	lu_round_limit_ms = 10;
	sem_init(&told, 0, 0);
	start(&(struct bench_options){ .workers = 2, .nexuses = 3 });
	for (unsigned i = 0; i < 3; i++)
		bench_on_nexus(&b, i, watch, b.nexuses[i]);
}

static struct bench_cmd *compare_and_write(unsigned i, unsigned nexus)
{
	struct bench_cmd *k = prepare(i, (uint8_t[16]){ 0x89, [9] = 8, [13] = 1 }, 16);
	k->out = zeroes;
	k->out_len = 1024;
	bench_start(&b, nexus, k);
	return k;
}

static void who_owes_data_that_a_freeze_waits_for_is_told_in_time(void **state)
{
	start_watched();
	struct bench_cmd *slow = owing(0, 1, 0x2a, 0, TASK_SIMPLE); // into the disk's memory
	struct bench_cmd *k = compare_and_write(1, 0);
	sem_wait(&told);
	assert_ptr_equal(overdue, b.nexuses[1]);
	bench_abort(slow, false);
	bench_wait(k);
	expect_good(k->status);
}

static void who_does_not_take_memory_that_a_freeze_waits_for_is_told_in_time(void **state)
{
	start_watched();
	struct bench_cmd *slow = prepare(0, (uint8_t[10]){ 0x28, [5] = 8, [8] = 1 }, 10);
	slow->expected_in = 512;
	slow->holds_release = true;
	bench_start(&b, 1, slow);
	bench_wait(slow);
	struct bench_cmd *k = compare_and_write(1, 0);
	sem_wait(&told);
	assert_ptr_equal(overdue, b.nexuses[1]);
	bench_release(slow);
	bench_wait(k);
	expect_good(k->status);
}

static void all_who_are_late_are_told(void **state)
{
	start_watched();
	struct bench_cmd *first = owing(0, 1, 0x2a, 0, TASK_SIMPLE);
	struct bench_cmd *second = owing(1, 0, 0x2a, 0, TASK_SIMPLE);
	struct bench_cmd *k = compare_and_write(2, 2);
	sem_wait(&told);
	sem_wait(&told);
	bench_abort(first, false);
	bench_abort(second, false);
	bench_wait(k);
	expect_good(k->status);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(populate_token_holds_up_nobody),
		T(populate_token_does_not_wait_for_other_blocks),
		T(populate_token_does_not_wait_for_a_verify),
		T(a_write_that_begins_after_the_token_revokes_it),
		T(sanitize_does_not_wait_for_a_verify),
		T(an_ordered_task_holds_up_its_own_initiator_alone),
		T(who_owes_data_that_a_freeze_waits_for_is_told_in_time),
		T(who_does_not_take_memory_that_a_freeze_waits_for_is_told_in_time),
		T(all_who_are_late_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
