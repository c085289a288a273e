// SPDX-License-Identifier: BSD-2-Clause
// How a worker waits: it spins for requests, polls for completions that are due, or sleeps.
#include "core/worker_util.h"

#include <liburing.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "core/worker_priv.h"

#define MSEC 1000000ull // in ns

struct traffic {
	struct timer timer;
	int left;
};

static void traffic_comes(struct timer *t)
{
	struct traffic *tr = container_of(t, struct traffic, timer);
	struct worker *w = worker_self();

	worker_note_traffic(w);
	if (tr->left-- > 0)
		timer_arm(w, t, 0);
	else
		worker_stop(w);
}

static uint64_t spins_after_traffic(unsigned spin_usec)
{
	struct worker *w = make_worker(true, spin_usec);
	struct traffic t = { .left = 200 };

	timer_init(&t.timer, traffic_comes);
	timer_arm(w, &t.timer, 0);
	run_guarded(w);
	uint64_t ret = worker_counters(w)->spins;
	worker_free(w);
	return ret;
}

static void dense_traffic_makes_it_spin(void **state)
{
	assert_true(spins_after_traffic(100000) > 0);
}

static void without_spin_time_it_never_spins(void **state)
{
	assert_int_equal(spins_after_traffic(0), 0);
}

// --- completions

struct pipe_read {
	struct uring_op op;
	struct timer timer; // writes
	struct timer stop;
	int pipe[2];
	char byte;
	uint64_t elapsed;
};

static void read_done(struct uring_op *op, int res)
{
	struct pipe_read *r = container_of(op, struct pipe_read, op);

	assert_int_equal(res, 1);
	r->elapsed = worker_elapsed(worker_self(), op);
	worker_stop(worker_self());
}

static void write_byte(struct timer *t)
{
	struct pipe_read *r = container_of(t, struct pipe_read, timer);

	assert_int_equal(write(r->pipe[1], "x", 1), 1);
}

// Reads a byte that is written after written_usec, and says that it takes expected_ns.
static struct pipe_read read_expecting(struct worker *w, uint64_t written_usec,
				       uint64_t expected_ns, uint64_t deviation)
{
	struct pipe_read r = { .op.done = read_done };

	assert_int_equal(pipe(r.pipe), 0);
	timer_init(&r.timer, write_byte);
	timer_arm(w, &r.timer, written_usec);
	io_uring_prep_read(worker_sqe(w, &r.op), r.pipe[0], &r.byte, 1, 0);
	worker_expect(w, &r.op, expected_ns, deviation);
	run_guarded(w);
	close_pair(r.pipe);
	return r;
}

static void it_polls_for_a_completion_that_is_due(void **state)
{
	struct worker *w = make_worker(true, 1000000);
	struct pipe_read r = read_expecting(w, 100000, 100 * MSEC, 0);

	assert_true(r.elapsed >= 100 * MSEC);
	assert_true(worker_counters(w)->polls > 0);
	assert_int_equal(worker_counters(w)->sleeps, 0);
	worker_free(w);
}

static void the_time_that_it_polls_is_counted(void **state)
{
	struct worker *w = make_worker(true, 1000000);
	struct pipe_read r = read_expecting(w, 100000, 100 * MSEC, 0);

	// Without the time in which another program had the CPU before it began.
	assert_in_range(worker_counters(w)->polled_ns, MSEC / 10, r.elapsed);
	worker_free(w);
}

static void it_sleeps_until_a_completion_is_due(void **state)
{
	struct worker *w = make_worker(true, 100);

	read_expecting(w, 300000, 300 * MSEC, 0);
	assert_true(worker_counters(w)->sleeps > 0);
	assert_in_range(worker_counters(w)->rounds, 1, 20);
	worker_free(w);
}

static void it_sleeps_when_a_completion_does_not_come_in_time(void **state)
{
	struct worker *w = make_worker(true, 100);

	read_expecting(w, 300000, 1, 0);
	assert_int_equal(worker_counters(w)->polls_missed, 1);
	assert_true(worker_counters(w)->sleeps > 0);
	worker_free(w);
}

static uint64_t polls_with(unsigned spin_usec, uint64_t expected_ns, uint64_t deviation)
{
	struct worker *w = make_worker(true, spin_usec);

	read_expecting(w, 100000, expected_ns, deviation);
	uint64_t ret = worker_counters(w)->polls;
	worker_free(w);
	return ret;
}

static void it_polls_for_nothing_that_is_unknown_or_varies(void **state)
{
	assert_int_equal(polls_with(100000, 0, 0), 0);
	assert_int_equal(polls_with(100000, MSEC, 101 * MSEC), 0);
	assert_true(polls_with(100000, MSEC, 100 * MSEC) > 0);
}

static void without_spin_time_it_never_polls(void **state)
{
	assert_int_equal(polls_with(0, MSEC, 0), 0);
}

// --- others on the same CPU

static atomic_bool is_hogging;
static uint64_t was_preempted_ns;

static void pin(void)
{
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof all, &all);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all)) {
			CPU_SET(cpu, &one);
			break;
		}
	sched_setaffinity(0, sizeof one, &one);
}

static void *hog(void *arg)
{
	pin();
	while (atomic_load(&is_hogging))
		;
	return NULL;
}

static void *poll_beside_hog(void *arg)
{
	struct worker *w = make_worker(true, 1000000);

	pin();
	// Longer than a time slice: the first probe finds out. On a busy machine the thread may get
	// the CPU only after the end of a read, which then needs no polling.
	for (int i = 0; i < 20 && !w->shared_until; i++)
		read_expecting(w, 300000, 300 * MSEC, 0);
	*(uint64_t *)arg = w->shared_until;
	worker_free(w);
	return NULL;
}

static void it_does_not_poll_while_others_want_the_cpu(void **state)
{
	pthread_t other, self;
	uint64_t shared_until = 0;

	wait_preempted_ns = was_preempted_ns;
	atomic_store(&is_hogging, true);
	assert_int_equal(pthread_create(&other, NULL, hog, NULL), 0);
	assert_int_equal(pthread_create(&self, NULL, poll_beside_hog, &shared_until), 0);
	pthread_join(self, NULL);
	atomic_store(&is_hogging, false);
	pthread_join(other, NULL);
	assert_true(shared_until > 0);
}

int main(void)
{
	was_preempted_ns = wait_preempted_ns;
	wait_preempted_ns = UINT64_MAX; // other programs' load
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dense_traffic_makes_it_spin),
		cmocka_unit_test(without_spin_time_it_never_spins),
		cmocka_unit_test(it_polls_for_a_completion_that_is_due),
		cmocka_unit_test(the_time_that_it_polls_is_counted),
		cmocka_unit_test(it_sleeps_until_a_completion_is_due),
		cmocka_unit_test(it_sleeps_when_a_completion_does_not_come_in_time),
		cmocka_unit_test(it_polls_for_nothing_that_is_unknown_or_varies),
		cmocka_unit_test(without_spin_time_it_never_polls),
		cmocka_unit_test(it_does_not_poll_while_others_want_the_cpu),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
