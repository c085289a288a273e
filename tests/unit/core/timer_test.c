// SPDX-License-Identifier: BSD-2-Clause
// Timers of a worker: order, cancel, re-arm, also from inside callbacks.
#include "core/worker_util.h"

#include <stdlib.h>
#include <string.h>

struct probe {
	struct timer timer;
	struct timer *victim; // cancelled by the callback
	struct timer *next;   // armed by the callback with 0
	int left;	      // re-arms itself so many times with 0
	int runs;
	uint64_t round, ran_at;
	bool is_last;
};

static uint64_t last_deadline;
static unsigned disorder, total;

static void probe_fires(struct timer *t)
{
	struct probe *p = container_of(t, struct probe, timer);
	struct worker *w = worker_self();

	total++;
	if (t->deadline_ns < last_deadline)
		disorder++;
	last_deadline = t->deadline_ns;
	p->runs++;
	p->round = worker_counters(w)->rounds;
	p->ran_at = clock_ns();
	if (p->victim)
		timer_cancel(w, p->victim);
	if (p->next)
		timer_arm(w, p->next, 0);
	if (p->left-- > 0)
		timer_arm(w, t, 0);
	else if (p->is_last)
		worker_stop(w);
}

static void probe_arm(struct worker *w, struct probe *p, uint64_t usec)
{
	timer_init(&p->timer, probe_fires);
	timer_arm(w, &p->timer, usec);
}

static int reset(void **state)
{
	last_deadline = total = disorder = 0;
	return 0;
}

static void a_timer_never_fires_early(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct probe p = { .is_last = true };
	uint64_t armed = clock_ns();

	probe_arm(w, &p, 3000);
	run_guarded(w);
	// The clock of the arming is the worker's, at most as old as worker_new().
	assert_true(p.ran_at >= p.timer.deadline_ns);
	assert_true(p.timer.deadline_ns + 1000000000 > armed);
	assert_false(timer_is_armed(&p.timer));
	worker_free(w);
}

#define MANY 5000

static void many_timers_fire_in_order_of_their_deadlines(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct probe *p = calloc(MANY, sizeof *p), last = { .is_last = true };

	srandom(1);
	for (int i = 0; i < MANY; i++)
		probe_arm(w, &p[i], (uint64_t)random() % 20000);
	probe_arm(w, &last, 20001);
	run_guarded(w);
	assert_int_equal(total, MANY + 1);
	assert_int_equal(disorder, 0);
	free(p);
	worker_free(w);
}

static void random_cancels_and_rearms_keep_the_order(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct probe *p = calloc(MANY, sizeof *p), last = { .is_last = true };
	unsigned expected = 1;

	srandom(2);
	for (int i = 0; i < MANY; i++)
		timer_init(&p[i].timer, probe_fires);
	for (int i = 0; i < 4 * MANY; i++) {
		struct timer *t = &p[random() % MANY].timer;
		if (random() % 3)
			timer_arm(w, t, (uint64_t)random() % 20000);
		else
			timer_cancel(w, t);
	}
	for (int i = 0; i < MANY; i++)
		expected += timer_is_armed(&p[i].timer);
	probe_arm(w, &last, 20001);
	run_guarded(w);
	assert_int_equal(total, expected);
	assert_int_equal(disorder, 0);
	for (int i = 0; i < MANY; i++)
		assert_true(p[i].runs <= 1);
	free(p);
	worker_free(w);
}

static void a_cancelled_timer_does_not_fire(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct probe a = { 0 }, b = { .is_last = true };

	probe_arm(w, &a, 100);
	probe_arm(w, &b, 200);
	timer_cancel(w, &a.timer);
	timer_cancel(w, &a.timer); // no-op
	run_guarded(w);
	assert_int_equal(a.runs, 0);
	assert_int_equal(b.runs, 1);
	worker_free(w);
}

static void a_callback_may_cancel_a_timer_that_is_due_too(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct probe a = { 0 }, b = { 0 }, last = { .is_last = true };

	a.victim = &b.timer;
	probe_arm(w, &b, 1);
	probe_arm(w, &a, 0);
	probe_arm(w, &last, 1000);
	run_guarded(w);
	assert_int_equal(a.runs, 1);
	assert_int_equal(b.runs, 0);
	worker_free(w);
}

static void rearming_moves_the_deadline(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct probe a = { 0 }, b = { .is_last = true };

	probe_arm(w, &a, 100);
	timer_arm(w, &a.timer, 50000000);
	probe_arm(w, &b, 1000);
	run_guarded(w);
	assert_int_equal(a.runs, 0);
	assert_true(timer_is_armed(&a.timer));
	timer_cancel(w, &a.timer);
	worker_free(w);
}

static void a_timer_that_rearms_itself_with_zero_lets_the_loop_go_on(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct probe p = { .left = 100, .is_last = true };

	probe_arm(w, &p, 0);
	run_guarded(w);
	assert_int_equal(p.runs, 101);
	assert_true(p.round > 100);
	worker_free(w);
}

static void a_callback_may_arm_another_timer(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct probe b = { .is_last = true }, a = { .next = &b.timer };

	timer_init(&b.timer, probe_fires);
	probe_arm(w, &a, 0);
	run_guarded(w);
	assert_int_equal(b.runs, 1);
	assert_true(b.round > a.round);
	worker_free(w);
}

static void the_longest_time_does_not_wrap(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct probe a = { 0 }, b = { .is_last = true };

	probe_arm(w, &a, UINT64_MAX);
	probe_arm(w, &b, 1000);
	run_guarded(w);
	assert_int_equal(a.runs, 0);
	timer_cancel(w, &a.timer);
	worker_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_timer_never_fires_early, reset),
		cmocka_unit_test_setup(many_timers_fire_in_order_of_their_deadlines, reset),
		cmocka_unit_test_setup(random_cancels_and_rearms_keep_the_order, reset),
		cmocka_unit_test_setup(a_cancelled_timer_does_not_fire, reset),
		cmocka_unit_test_setup(a_callback_may_cancel_a_timer_that_is_due_too, reset),
		cmocka_unit_test_setup(rearming_moves_the_deadline, reset),
		cmocka_unit_test_setup(a_timer_that_rearms_itself_with_zero_lets_the_loop_go_on,
				       reset),
		cmocka_unit_test_setup(a_callback_may_arm_another_timer, reset),
		cmocka_unit_test_setup(the_longest_time_does_not_wrap, reset),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
