// SPDX-License-Identifier: BSD-2-Clause
// Mailbox of a worker: order, no lost wake-up, calls.
#include "core/worker_util.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POSTERS 4
#define POSTS	20000

struct stress {
	struct msg msg;
	unsigned poster, number;
};

struct poster {
	pthread_t thread;
	struct worker *to;
	unsigned id;
	struct stress *messages;
};

static struct {
	unsigned next[POSTERS]; // of the receiving worker
	unsigned disorder;
	atomic_uint arrived;
} seen;

static void stress_arrives(struct msg *m)
{
	struct stress *s = container_of(m, struct stress, msg);

	if (seen.next[s->poster]++ != s->number)
		seen.disorder++;
	atomic_fetch_add(&seen.arrived, 1);
}

static void *post_all(void *arg)
{
	struct poster *p = arg;

	for (unsigned i = 0; i < POSTS; i++) {
		p->messages[i] = (struct stress){ { .fn = stress_arrives }, p->id, i };
		worker_post(p->to, &p->messages[i].msg);
		if (i % 64 == 0)
			sched_yield(); // lets the worker fall asleep now and then
	}
	return NULL;
}

static void post_from_many_threads(unsigned spin_usec)
{
	struct worker *w = start_worker(spin_usec);
	struct poster p[POSTERS];

	memset(&seen, 0, sizeof seen);
	for (unsigned i = 0; i < POSTERS; i++) {
		p[i] = (struct poster){ .to = w, .id = i };
		p[i].messages = malloc(POSTS * sizeof *p[i].messages);
		assert_int_equal(pthread_create(&p[i].thread, NULL, post_all, &p[i]), 0);
	}
	for (unsigned i = 0; i < POSTERS; i++)
		pthread_join(p[i].thread, NULL);
	worker_free(w); // runs what was posted before
	assert_int_equal(atomic_load(&seen.arrived), POSTERS * POSTS);
	assert_int_equal(seen.disorder, 0);
	for (unsigned i = 0; i < POSTERS; i++)
		free(p[i].messages);
}

static void messages_of_each_thread_arrive_once_and_in_order(void **state)
{
	post_from_many_threads(0);
}

// Two workers throw one message to and fro: a lost wake-up would hang them, since nothing else
// ends their sleep.
struct ball {
	struct msg msg;
	struct worker *a, *b;
	unsigned bounces;
	sem_t landed;
};

#define BOUNCES 20000

static void ball_bounces(struct msg *m)
{
	struct ball *b = container_of(m, struct ball, msg);

	if (++b->bounces == BOUNCES)
		sem_post(&b->landed);
	else
		worker_post(worker_self() == b->a ? b->b : b->a, m);
}

static void no_wake_up_is_lost_between_sleeping_workers(void **state)
{
	struct ball b = { .msg.fn = ball_bounces, .a = start_worker(0), .b = start_worker(0) };
	struct timespec limit;

	sem_init(&b.landed, 0, 0);
	worker_post(b.a, &b.msg);
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 60;
	assert_int_equal(sem_timedwait(&b.landed, &limit), 0);
	worker_free(b.a);
	worker_free(b.b);
	sem_destroy(&b.landed);
}

// Posts that arrive just as the worker falls asleep: after each answer a pause of another length.
#define PAUSES 60000

struct echo {
	struct msg msg;
	atomic_uint answered;
};

static void echo_answers(struct msg *m)
{
	atomic_fetch_add(&container_of(m, struct echo, msg)->answered, 1);
}

static bool echo_comes(struct echo *x, unsigned n)
{
	uint64_t limit = 0;

	for (unsigned spins = 1; atomic_load(&x->answered) != n; spins++) {
		if (spins % 4096)
			continue;
		sched_yield();
		if (!limit)
			limit = clock_ns() + 30000000000ull;
		if (clock_ns() > limit)
			return false;
	}
	return true;
}

static void no_wake_up_is_lost_on_the_edge_of_sleep(void **state)
{
	struct worker *w = start_worker(0);
	struct echo x = { .msg.fn = echo_answers };

	for (unsigned i = 1; i <= PAUSES; i++) {
		worker_post(w, &x.msg);
		if (!echo_comes(&x, i))
			fail_msg("message %u was never run", i);
		for (volatile unsigned n = i % 600; n; n--)
			;
	}
	worker_free(w);
}

static void count_up(void *arg)
{
	++*(unsigned *)arg;
}

static void call_returns_after_the_function_ran(void **state)
{
	struct worker *w = start_worker(0);
	unsigned n = 0;

	for (unsigned i = 0; i < 1000; i++) {
		worker_call(w, count_up, &n);
		assert_int_equal(n, i + 1);
	}
	worker_free(w);
}

struct self_post {
	struct msg msg;
	uint64_t round, again;
};

static void self_post_again(struct msg *m)
{
	struct self_post *s = container_of(m, struct self_post, msg);

	s->again = worker_counters(worker_self())->rounds;
	worker_stop(worker_self());
}

static void self_post_first(struct msg *m)
{
	struct self_post *s = container_of(m, struct self_post, msg);

	s->round = worker_counters(worker_self())->rounds;
	m->fn = self_post_again;
	worker_post(worker_self(), m);
}

static void a_message_to_oneself_runs_in_a_later_round(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct self_post s = { .msg.fn = self_post_first };

	worker_post(w, &s.msg); // before the loop runs
	run_guarded(w);
	assert_true(s.again > s.round);
	worker_free(w);
}

static void messages_arrive_while_it_spins(void **state)
{
	post_from_many_threads(1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_of_each_thread_arrive_once_and_in_order),
		cmocka_unit_test(no_wake_up_is_lost_between_sleeping_workers),
		cmocka_unit_test(no_wake_up_is_lost_on_the_edge_of_sleep),
		cmocka_unit_test(call_returns_after_the_function_ran),
		cmocka_unit_test(a_message_to_oneself_runs_in_a_later_round),
		cmocka_unit_test(messages_arrive_while_it_spins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
