// SPDX-License-Identifier: BSD-2-Clause
// The loop of a worker, on its thread: rounds, deferred work. Waiting is in wait.c.
#include "core/counter.h"
#include "core/worker_priv.h"

#define RING_PASSES  4	// of completions that complete at once, per round
#define DEFER_PASSES 16 // work that is deferred again is served in the same round

void worker_defer(struct worker *w, struct defer *d, void (*fn)(struct defer *d))
{
	if (list_linked(&d->link))
		return;
	d->fn = fn;
	list_push_back(&w->defers, &d->link);
}

void worker_defer_cancel(struct defer *d)
{
	list_remove(&d->link);
}

static void defers_run(struct worker *w)
{
	for (int pass = 0; pass < DEFER_PASSES && !list_empty(&w->defers); pass++) {
		// A separate list, so that work deferred meanwhile runs in the next pass; cancelled
		// work unlinks itself from the list that it is in.
		struct list now;
		list_init(&now);
		list_splice_back(&now, &w->defers);
		for (struct list *n; (n = list_pop_front(&now));) {
			struct defer *d = list_entry(n, struct defer, link);
			d->fn(d);
		}
	}
}

static void run_round(struct worker *w)
{
	counter_add(&w->counters.rounds, 1);
	mailbox_run(w);
	timers_run(w);
	watches_run(w);
	pollers_run(w, false);
	for (int pass = 0; pass < RING_PASSES; pass++) {
		ring_reap(w);
		if (w->has_fds_ready) {
			watches_fetch_ready(w);
			watches_run(w);
		}
		defers_run(w);
		ring_submit(w);
		polled_submit(w);
		if (!io_uring_cq_ready(&w->ring))
			break;
	}
}

void worker_loop(struct worker *w)
{
	w->now = clock_ns();
	do {
		run_round(w);
		wait_for_work(w);
	} while (!atomic_load(&w->is_stopping));
	run_round(w); // what was posted before worker_stop()
}
