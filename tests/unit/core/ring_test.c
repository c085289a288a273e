// SPDX-License-Identifier: BSD-2-Clause
// io_uring of a worker.
#include "core/worker_util.h"

#include <liburing.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "core/worker_priv.h"

struct operation {
	struct uring_op op;
	int res, left;
	unsigned runs;
};

static void op_done(struct uring_op *op, int res)
{
	struct operation *o = container_of(op, struct operation, op);

	o->res = res;
	o->runs++;
	if (o->left-- > 0)
		io_uring_prep_nop(worker_sqe(worker_self(), op));
	else
		worker_stop(worker_self());
}

static void a_read_completes_with_its_length(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct operation o = { .op.done = op_done };
	char buf[8];
	int p[2];

	assert_int_equal(pipe(p), 0);
	io_uring_prep_read(worker_sqe(w, &o.op), p[0], buf, sizeof buf, 0);
	assert_int_equal(write(p[1], "abc", 3), 3);
	run_guarded(w);
	assert_int_equal(o.res, 3);
	assert_memory_equal(buf, "abc", 3);
	close_pair(p);
	worker_free(w);
}

struct writer {
	struct timer timer;
	uint32_t usec;
	int fd;
};

// If this thread was kept off the CPU until the timer was due, the worker has not slept yet.
static void write_after_sleep(struct timer *t)
{
	struct writer *wr = container_of(t, struct writer, timer);

	if (worker_counters(worker_self())->sleeps)
		assert_int_equal(write(wr->fd, "abc", 3), 3);
	else
		timer_arm(worker_self(), t, wr->usec);
}

// A read of what is written only then.
static void read_late(struct worker *w, uint32_t usec)
{
	struct operation o = { .op.done = op_done };
	struct writer wr = { .usec = usec };
	char buf[8];
	int p[2];

	assert_int_equal(pipe(p), 0);
	wr.fd = p[1];
	timer_init(&wr.timer, write_after_sleep);
	timer_arm(w, &wr.timer, usec);
	io_uring_prep_read(worker_sqe(w, &o.op), p[0], buf, sizeof buf, 0);
	run_guarded(w);
	assert_int_equal(o.res, 3);
	close_pair(p);
}

static void a_completion_ends_the_sleep(void **state)
{
	struct worker *w = make_worker(true, 0);

	read_late(w, 5000);
	assert_true(worker_counters(w)->sleeps > 0);
	worker_free(w);
}

// An operation that waits must not keep the loop awake.
static void a_waiting_operation_costs_no_rounds(void **state)
{
	struct worker *w = make_worker(true, 0);

	read_late(w, 30000);
	assert_true(worker_counters(w)->rounds < 10);
	worker_free(w);
}

#define ECHOES 200

struct echo {
	struct uring_op op;
	struct worker *w;
	int pipe[2];
	atomic_int done;
	char byte;
};

static void echo_read(struct echo *ec)
{
	io_uring_prep_read(worker_sqe(ec->w, &ec->op), ec->pipe[0], &ec->byte, 1, 0);
}

static void echo_done(struct uring_op *op, int res)
{
	struct echo *ec = container_of(op, struct echo, op);

	assert_int_equal(res, 1);
	if (atomic_fetch_add(&ec->done, 1) + 1 < ECHOES)
		echo_read(ec);
	else
		worker_stop(ec->w);
}

// Writes a byte each time the worker has gone to sleep after the one before.
static void *write_to_sleeper(void *arg)
{
	struct echo *ec = arg;

	for (int i = 0; i < ECHOES; i++) {
		while (atomic_load(&ec->done) < i || !atomic_load(&ec->w->is_asleep))
			sched_yield();
		assert_int_equal(write(ec->pipe[1], "x", 1), 1);
	}
	return NULL;
}

static void a_completion_from_another_thread_ends_the_sleep(void **state)
{
	struct echo ec = { .op.done = echo_done, .w = make_worker(true, 0) };
	pthread_t thread;

	assert_int_equal(pipe(ec.pipe), 0);
	echo_read(&ec);
	assert_int_equal(pthread_create(&thread, NULL, write_to_sleeper, &ec), 0);
	run_guarded(ec.w);
	pthread_join(thread, NULL);
	assert_int_equal(ec.done, ECHOES);
	close_pair(ec.pipe);
	worker_free(ec.w);
}

static void done_may_submit_again(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct operation o = { .op.done = op_done, .left = 5000 };

	io_uring_prep_nop(worker_sqe(w, &o.op));
	run_guarded(w);
	assert_int_equal(o.runs, 5001);
	worker_free(w);
}

static unsigned queued[4];

static void queue_four(struct msg *m)
{
	static struct operation o[4];
	struct worker *w = worker_self();

	for (unsigned i = 0; i < 4; i++) {
		o[i] = (struct operation){ .op.done = op_done };
		io_uring_prep_nop(worker_sqe(w, &o[i].op));
		queued[i] = io_uring_sq_ready(&w->ring);
	}
}

// What is queued waits for the end of the round only while as much is with the kernel.
static void an_idle_kernel_gets_the_first_operations_at_once(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct msg m = { .fn = queue_four };
	const unsigned expected[] = { 1, 1, 1, 2 };

	worker_post(w, &m);
	run_guarded(w);
	assert_memory_equal(queued, expected, sizeof expected);
	worker_free(w);
}

// Two pipes: the second one becomes readable, and operations are queued, when the event of the
// first one is fetched and not yet called.
struct two_pipes {
	struct msg first, second;
	struct watch watch[2];
	int pipe[2][2];
	unsigned events[2];
};

static struct two_pipes *two_pipes;

static void pipe_event(struct watch *wa, uint32_t epoll_events)
{
	struct two_pipes *t = two_pipes;

	t->events[wa == &t->watch[1]]++;
	if (t->events[0] && t->events[1])
		worker_stop(worker_self());
}

static void write_second(struct msg *m)
{
	static struct operation o[2];
	struct two_pipes *t = container_of(m, struct two_pipes, second);

	assert_int_equal(write(t->pipe[1][1], "x", 1), 1);
	for (unsigned i = 0; i < 2; i++) {
		o[i] = (struct operation){ .op.done = op_done, .left = 1 << 30 };
		io_uring_prep_nop(worker_sqe(worker_self(), &o[i].op));
	}
}

static void write_first(struct msg *m)
{
	struct two_pipes *t = container_of(m, struct two_pipes, first);

	assert_int_equal(write(t->pipe[0][1], "x", 1), 1);
	worker_post(worker_self(), &t->second);
}

static void events_that_are_fetched_are_not_lost(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct two_pipes t = { .first.fn = write_first, .second.fn = write_second };

	two_pipes = &t;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(pipe(t.pipe[i]), 0);
		t.watch[i].fn = pipe_event;
		assert_int_equal(watch_add(w, &t.watch[i], t.pipe[i][0], EPOLLIN), 0);
	}
	worker_post(w, &t.first);
	run_guarded(w);
	assert_int_equal(t.events[0], 1);
	assert_int_equal(t.events[1], 1);
	for (unsigned i = 0; i < 2; i++) {
		watch_remove(w, &t.watch[i]);
		close_pair(t.pipe[i]);
	}
	worker_free(w);
}

static unsigned flood_left;

static void flood_done(struct uring_op *op, int res)
{
	if (!--flood_left)
		worker_stop(worker_self());
}

static void flood(struct msg *m)
{
	static struct uring_op op = { .done = flood_done };

	for (unsigned i = 0; i < flood_left; i++)
		io_uring_prep_nop(worker_sqe(worker_self(), &op));
}

// 8 submission entries, 64 completion entries: both overflow.
static void more_operations_than_both_queues_hold_all_complete(void **state)
{
	struct worker_options o = {
		.name = "small", .cpu = -1, .ring_entries = 8, .is_control = true
	};
	struct msg m = { .fn = flood };
	struct worker *w;

	assert_int_equal(worker_new(&w, &o, NULL), 0);
	flood_left = 3000;
	worker_post(w, &m);
	run_guarded(w);
	assert_int_equal(flood_left, 0);
	worker_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_read_completes_with_its_length),
		cmocka_unit_test(a_completion_ends_the_sleep),
		cmocka_unit_test(a_waiting_operation_costs_no_rounds),
		cmocka_unit_test(a_completion_from_another_thread_ends_the_sleep),
		cmocka_unit_test(done_may_submit_again),
		cmocka_unit_test(an_idle_kernel_gets_the_first_operations_at_once),
		cmocka_unit_test(events_that_are_fetched_are_not_lost),
		cmocka_unit_test(more_operations_than_both_queues_hold_all_complete),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
