// SPDX-License-Identifier: BSD-2-Clause
// Worker: life and index, deferred work.
#include "core/worker_util.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static void data_workers_get_the_next_free_index(void **state)
{
	struct worker *a = make_worker(false, 0), *b = make_worker(false, 0), *c;

	assert_int_equal(worker_index(a), 0);
	assert_int_equal(worker_index(b), 1);
	assert_int_equal(worker_count(), 2);
	assert_ptr_equal(worker_at(1), b);
	worker_free(a);
	assert_null(worker_at(0));
	c = make_worker(false, 0);
	assert_int_equal(worker_index(c), 0);
	worker_free(b);
	worker_free(c);
	assert_int_equal(worker_count(), 0);
}

static void the_control_worker_has_no_index(void **state)
{
	struct worker *w = make_worker(true, 0);

	assert_int_equal(worker_index(w), WORKER_MAX);
	assert_int_equal(worker_count(), 0);
	worker_free(w);
}

static void more_workers_than_the_maximum_are_refused(void **state)
{
	struct worker_options o = { .name = "many", .cpu = -1, .ring_entries = 8 };
	struct worker *w[WORKER_MAX], *extra;
	struct err e = { 0 };

	for (int i = 0; i < WORKER_MAX; i++)
		assert_int_equal(worker_new(&w[i], &o, &e), 0);
	assert_int_equal(worker_new(&extra, &o, &e), -EMFILE);
	assert_null(extra);
	assert_non_null(strstr(e.text, "64 workers"));
	for (int i = 0; i < WORKER_MAX; i++)
		worker_free(w[i]);
}

static void start_on_a_cpu_that_is_not_there_is_an_error(void **state)
{
	struct worker_options o = { .name = "cpu", .cpu = 1000 };
	struct worker *w;
	struct err e;

	assert_int_equal(worker_new(&w, &o, &e), 0);
	assert_int_equal(worker_start(w, &e), -ENODEV);
	assert_string_equal(e.text, "no CPU 1000 available to this process");
	worker_free(w);
}

static void store_self(void *arg)
{
	*(struct worker **)arg = worker_self();
}

static void self_is_the_worker_whose_thread_it_is(void **state)
{
	struct worker *w = start_worker(0), *seen = NULL;

	worker_call(w, store_self, &seen);
	assert_ptr_equal(seen, w);
	assert_null(worker_self());
	worker_free(w);
}

static struct worker *to_stop;

static void stop_on_signal(int sig)
{
	worker_stop(to_stop);
}

static void raise_signal(struct timer *t)
{
	raise(SIGUSR1);
}

static void a_signal_handler_may_stop_the_loop(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct timer t;

	to_stop = w;
	signal(SIGUSR1, stop_on_signal);
	timer_init(&t, raise_signal);
	timer_arm(w, &t, 1000);
	run_guarded(w);
	worker_free(w);
}

struct later {
	struct defer defer;
	int runs, again;
	uint64_t round;
	struct later *victim;
};

static void later_runs(struct defer *d)
{
	struct later *l = container_of(d, struct later, defer);
	struct worker *w = worker_self();

	l->runs++;
	l->round = worker_counters(w)->rounds;
	if (l->victim)
		worker_defer_cancel(&l->victim->defer);
	if (l->again-- > 0)
		worker_defer(w, d, later_runs);
	else
		worker_stop(w);
}

static void deferred_work_may_defer_itself_in_the_same_round(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct later l = { .again = 5 };

	worker_defer(w, &l.defer, later_runs);
	run_guarded(w);
	assert_int_equal(l.runs, 6);
	assert_int_equal(l.round, 1);
	worker_free(w);
}

static void work_that_defers_for_ever_does_not_stop_the_loop(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct later l = { .again = 1000 };

	worker_defer(w, &l.defer, later_runs);
	run_guarded(w);
	assert_int_equal(l.runs, 1001);
	assert_true(l.round > 1);
	worker_free(w);
}

static void work_deferred_twice_runs_once(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct later l = { 0 };

	worker_defer(w, &l.defer, later_runs);
	worker_defer(w, &l.defer, later_runs);
	run_guarded(w);
	assert_int_equal(l.runs, 1);
	worker_free(w);
}

static void deferred_work_may_cancel_the_next(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct later b = { 0 }, a = { .victim = &b };

	worker_defer(w, &a.defer, later_runs);
	worker_defer(w, &b.defer, later_runs);
	run_guarded(w);
	assert_int_equal(a.runs, 1);
	assert_int_equal(b.runs, 0);
	worker_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_workers_get_the_next_free_index),
		cmocka_unit_test(the_control_worker_has_no_index),
		cmocka_unit_test(more_workers_than_the_maximum_are_refused),
		cmocka_unit_test(start_on_a_cpu_that_is_not_there_is_an_error),
		cmocka_unit_test(self_is_the_worker_whose_thread_it_is),
		cmocka_unit_test(a_signal_handler_may_stop_the_loop),
		cmocka_unit_test(deferred_work_may_defer_itself_in_the_same_round),
		cmocka_unit_test(work_that_defers_for_ever_does_not_stop_the_loop),
		cmocka_unit_test(work_deferred_twice_runs_once),
		cmocka_unit_test(deferred_work_may_cancel_the_next),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
