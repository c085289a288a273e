// SPDX-License-Identifier: BSD-2-Clause
// Shared by the worker tests: workers created and run with a guard against endless loops.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "core/worker.h"

static inline struct worker *make_worker(bool is_control, unsigned spin_usec)
{
	struct worker_options o = {
		.name = "test", .cpu = -1, .is_control = is_control, .spin_usec = spin_usec
	};
	struct worker *w;
	struct err e;

	if (worker_new(&w, &o, &e) < 0)
		fail_msg("%s", e.text);
	return w;
}

static inline struct worker *start_worker(unsigned spin_usec)
{
	struct worker *w = make_worker(false, spin_usec);
	struct err e;

	if (worker_start(w, &e) < 0)
		fail_msg("%s", e.text);
	return w;
}

static inline void give_up(struct timer *t)
{
	fail_msg("the loop did not end");
}

// Runs w on this thread; a test whose own end does not come fails.
static inline void run_guarded(struct worker *w)
{
	struct timer guard;

	timer_init(&guard, give_up);
	timer_arm(w, &guard, 60000000);
	worker_run(w);
	timer_cancel(w, &guard);
}

static inline void close_pair(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}
