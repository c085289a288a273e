// SPDX-License-Identifier: BSD-2-Clause
// Offload: work runs on pool threads, completions on the submitting worker.
#include "core/worker_util.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/offload.h"

#define JOBS 2000

static atomic_uint worked, at_once, most_at_once;
static unsigned done_count, wrong_thread;

struct job {
	struct offload o;
	bool on_worker, has_worked;
	sem_t *gate;
	struct worker *w;
	unsigned order;
};

static void job_work(struct offload *o)
{
	struct job *j = container_of(o, struct job, o);
	unsigned now = atomic_fetch_add(&at_once, 1) + 1, most = atomic_load(&most_at_once);

	while (now > most && !atomic_compare_exchange_weak(&most_at_once, &most, now))
		;
	j->on_worker = worker_self() != NULL;
	if (j->gate)
		while (sem_wait(j->gate) < 0)
			;
	j->has_worked = true;
	j->order = atomic_fetch_add(&worked, 1);
	atomic_fetch_sub(&at_once, 1);
}

static void job_done(struct offload *o)
{
	struct job *j = container_of(o, struct job, o);

	if (worker_self() != j->w || j->on_worker || !j->has_worked)
		wrong_thread++;
	done_count++;
}

static void submit_all(void *arg)
{
	struct job *j = arg;

	for (; j->o.work; j++) {
		j->w = worker_self();
		offload_submit(&j->o);
	}
}

static int reset(void **state)
{
	worked = at_once = most_at_once = done_count = wrong_thread = 0;
	return 0;
}

static struct job *make_jobs(unsigned n)
{
	struct job *j = calloc(n + 1, sizeof *j);

	assert_non_null(j);
	for (unsigned i = 0; i < n; i++) {
		j[i].o.work = job_work;
		j[i].o.done = job_done;
	}
	return j;
}

static void work_runs_elsewhere_and_done_at_home(void **state)
{
	struct worker *w = start_worker(0);
	struct job *j = make_jobs(JOBS);

	worker_call(w, submit_all, j);
	offload_shutdown();
	worker_free(w); // runs the completions posted before
	assert_int_equal(worked, JOBS);
	assert_int_equal(done_count, JOBS);
	assert_int_equal(wrong_thread, 0);
	free(j);
}

static void waiting_work_gets_up_to_four_threads(void **state)
{
	struct worker *w = start_worker(0);
	struct job *j = make_jobs(8);
	sem_t gate;

	sem_init(&gate, 0, 0);
	for (int i = 0; i < 8; i++)
		j[i].gate = &gate;
	worker_call(w, submit_all, j);
	while (atomic_load(&at_once) < 4)
		sched_yield(); // the test's time limit is the guard
	for (int i = 0; i < 8; i++)
		sem_post(&gate);
	offload_shutdown();
	worker_free(w);
	assert_int_equal(most_at_once, 4);
	assert_int_equal(done_count, 8);
	sem_destroy(&gate);
	free(j);
}

static void the_pool_may_be_used_again_after_a_shutdown(void **state)
{
	for (int round = 0; round < 3; round++) {
		struct worker *w = start_worker(0);
		struct job *j = make_jobs(4);
		done_count = 0;
		worker_call(w, submit_all, j);
		offload_shutdown();
		worker_free(w);
		assert_int_equal(done_count, 4);
		free(j);
	}
}

static void shutdown_without_threads_returns(void **state)
{
	offload_shutdown();
	offload_shutdown();
	assert_int_equal(worked, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(work_runs_elsewhere_and_done_at_home, reset),
		cmocka_unit_test_setup(waiting_work_gets_up_to_four_threads, reset),
		cmocka_unit_test_setup(the_pool_may_be_used_again_after_a_shutdown, reset),
		cmocka_unit_test_setup(shutdown_without_threads_returns, reset),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
