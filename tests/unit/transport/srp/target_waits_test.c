// SPDX-License-Identifier: BSD-2-Clause
// What the target's end of a channel says of what waits for the peer: since when, and since when
// nothing moves.
#include "transport/srp/target_rig.h"

static void one_round(void)
{
	worker_stop(worker);
	worker_run(worker);
}

static struct srp_channel_info info(void)
{
	struct srp_channel_info i;
	srp_channel_info(ch, &i);
	return i;
}

static void assert_wait(struct srp_wait w, uint64_t since, uint64_t stuck)
{
	assert_int_equal(w.since_ns, since);
	assert_int_equal(w.stuck_ns, stuck);
}

// Opens a channel; returns the time.
static uint64_t begin(void)
{
	open_channel();
	one_round();
	assert_wait(info().reads, 0, 0);
	assert_wait(info().output, 0, 0);
	assert_wait(info().asked, 0, 0);
	return worker_now(worker);
}

// Some time passes; returns the time.
static uint64_t later(void)
{
	uint64_t before = worker_now(worker);
	while (worker_now(worker) == before)
		one_round();
	return worker_now(worker);
}

static void each_answered_read_moves_the_reads(void **state)
{
	uint64_t start = begin();
	for (unsigned i = 0; i < 3; i++) {
		one[i].want = 512;
		write_direct(i, 0, 512);
	}
	assert_wait(info().reads, start, start);
	assert_wait(info().output, 0, 0);
	uint64_t now = later();
	assert_wait(info().reads, start, start);
	assert_true(fake_step());
	assert_wait(info().reads, start, now);
	fake_run();
	assert_wait(info().reads, 0, 0);
	shut();
}

static void each_write_or_response_moves_the_output(void **state)
{
	uint64_t start = begin();
	for (unsigned i = 0; i < 3; i++) {
		one[i].plan = ANSWER;
		one[i].data_in = 512;
		read_direct(i, 0, 512);
	}
	assert_wait(info().output, start, start);
	assert_wait(info().reads, 0, 0);
	for (unsigned i = 0; i < 5; i++) {
		uint64_t now = later();
		assert_true(fake_step());
		assert_wait(info().output, start, now);
	}
	fake_run();
	assert_wait(info().output, 0, 0);
	shut();
}

static void a_part_that_has_left_moves_the_output(void **state)
{
	uint64_t start = begin();
	one[1].plan = ANSWER;
	one[1].data_in = 512;
	read_direct(1, 0, 512);
	uint64_t now = fake.qp.last_tx_ns = later();
	assert_wait(info().output, start, now);
	fake_run();
	shut();
}

static void the_oldest_command_counts(void **state)
{
	uint64_t start = begin();
	for (unsigned i = 0; i < 3; i++) {
		one[i].plan = ANSWER;
		one[i].data_in = 512;
		read_direct(i, 0, 512);
		later();
	}
	assert_int_equal(info().output.since_ns, start);
	fake_step();
	fake_step();
	assert_true(info().output.since_ns > start);
	fake_run();
	shut();
}

static void a_response_without_a_command_is_output(void **state)
{
	uint64_t start = begin();
	task_mgmt(7, 3);
	srp_answer_tmf(ch, 7, SRP_RSP_COMPLETE);
	assert_wait(info().output, start, start);
	fake_run();
	assert_wait(info().output, 0, 0);
	shut();
}

static void what_is_sent_before_a_request_moves_its_answer(void **state)
{
	uint64_t start = begin(), tag;
	one[1].plan = ANSWER;
	one[1].data_in = 512;
	read_direct(1, 0, 512);
	assert_true(srp_ping(ch));
	assert_wait(info().asked, start, start);
	uint64_t now = later();
	fake_run();
	assert_wait(info().asked, start, now);
	heard_short(1, SRP_CRED_REQ, &tag);
	say_short(SRP_CRED_RSP, tag);
	assert_wait(info().asked, 0, 0);
	shut();
}

static void what_waits_for_our_memory_does_not_wait_for_the_peer(void **state)
{
	static struct buf *taken[8192];
	unsigned n = 0;
	begin();
	while (n < 8192 && (taken[n] = buf_get(worker, BUF_MIN)))
		n++;
	one[1].plan = ANSWER;
	one[1].data_in = 512;
	fake.knows_nothing = true;
	read_direct(1, 0, 512);
	assert_int_equal(fake.posted_count, 0);
	assert_wait(info().output, 0, 0);
	while (n)
		buf_put(taken[--n]);
	one_round();
	fake_run();
	shut();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_answered_read_moves_the_reads, setup),
		cmocka_unit_test_setup(each_write_or_response_moves_the_output, setup),
		cmocka_unit_test_setup(a_part_that_has_left_moves_the_output, setup),
		cmocka_unit_test_setup(the_oldest_command_counts, setup),
		cmocka_unit_test_setup(a_response_without_a_command_is_output, setup),
		cmocka_unit_test_setup(what_is_sent_before_a_request_moves_its_answer, setup),
		cmocka_unit_test_setup(what_waits_for_our_memory_does_not_wait_for_the_peer, setup),
	};
	return cmocka_run_group_tests(tests, make_workers, free_workers);
}
