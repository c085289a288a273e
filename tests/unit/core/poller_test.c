// SPDX-License-Identifier: BSD-2-Clause
// Pollers: looked at every round, armed before the sleep, removable from anywhere.
#include "core/worker_util.h"

struct counted {
	struct poller poller;
	struct worker *w;
	struct poller *victim;
	int polls, arms, work; // work: rounds left in which there is something
};

static bool poll_counted(struct poller *p)
{
	struct counted *c = container_of(p, struct counted, poller);

	c->polls++;
	poller_remove(c->victim ? c->victim : &(struct poller){ 0 });
	return false;
}

static bool arm_counted(struct poller *p)
{
	struct counted *c = container_of(p, struct counted, poller);

	c->arms++;
	if (c->work)
		return c->work--;
	worker_stop(c->w);
	return false;
}

static void a_poller_that_has_work_keeps_the_worker_awake(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct counted c = {
		.poller = {.poll = poll_counted, .arm = arm_counted},
			.w = w, .work = 3
	};

	poller_add(w, &c.poller);
	run_guarded(w);
	assert_int_equal(c.arms, 4);
	assert_true(c.polls >= 4);
	poller_remove(&c.poller);
	worker_free(w);
}

static void a_poller_may_remove_the_next_one(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct counted b = {
		.poller = {.poll = poll_counted, .arm = arm_counted},
			.w = w
	};
	struct counted a = {
		.poller = {.poll = poll_counted, .arm = arm_counted},
			.w = w, .victim = &b.poller
	};

	poller_add(w, &a.poller);
	poller_add(w, &b.poller);
	run_guarded(w);
	assert_true(a.polls > 0);
	assert_int_equal(b.polls, 0);
	poller_remove(&a.poller);
	worker_free(w);
}

static void a_poller_may_remove_itself(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct counted a = {
		.poller = {.poll = poll_counted, .arm = arm_counted},
			.w = w
	};
	struct counted b = {
		.poller = {.poll = poll_counted, .arm = arm_counted},
			.w = w
	};

	a.victim = &a.poller;
	poller_add(w, &a.poller);
	poller_add(w, &b.poller);
	run_guarded(w);
	assert_int_equal(a.polls, 1);
	assert_true(b.polls >= 1);
	poller_remove(&b.poller);
	worker_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_poller_that_has_work_keeps_the_worker_awake),
		cmocka_unit_test(a_poller_may_remove_the_next_one),
		cmocka_unit_test(a_poller_may_remove_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
