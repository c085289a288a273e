// SPDX-License-Identifier: BSD-2-Clause
// The loop of a worker, on its thread: rounds, deferred work, the spin before the sleep.
//
// It spins only while a request is likely to come soon, judged by the moving average of how long
// the worker was idle before recent requests. Otherwise it sleeps until an epoll event, a message
// or the next timer.
#include "core/counter.h"
#include "core/worker_priv.h"

#define RING_PASSES  4	// of completions that complete at once, per round
#define DEFER_PASSES 16 // work that is deferred again is served in the same round
#define GAP_SHIFT    3	// the moving average's weight: 1/8
#define GAP_CAP	     8	// upper bound of one pause, in spin times

static uint64_t clock_read(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

uint64_t clock_ns(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

uint64_t clock_coarse_ns(void)
{
	return clock_read(CLOCK_MONOTONIC_COARSE);
}

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

void poller_add(struct worker *w, struct poller *p)
{
	list_push_back(&w->pollers, &p->link);
}

void poller_remove(struct poller *p)
{
	struct worker *w = worker_self();

	if (w && w->poller_next == &p->link)
		w->poller_next = p->link.next;
	list_remove(&p->link);
}

// True if any poller had events.
static bool pollers_run(struct worker *w, bool is_arming)
{
	bool had_work = false;

	for (struct list *it = w->pollers.next; it != &w->pollers; it = w->poller_next) {
		struct poller *p = list_entry(it, struct poller, link);
		w->poller_next = it->next;
		had_work |= is_arming ? p->arm(p) : p->poll(p);
	}
	w->poller_next = NULL;
	return had_work;
}

void worker_note_traffic(struct worker *w)
{
	if (!w->spin_ns || w->traffic_at == w->now)
		return;
	// Work of the last round may have ended after this one's clock was read.
	uint64_t gap = w->now > w->idle_since ? w->now - w->idle_since : 0;
	uint64_t cap = w->spin_ns * GAP_CAP;
	if (gap > cap)
		gap = cap;
	w->traffic_gap += (gap >> GAP_SHIFT) - (w->traffic_gap >> GAP_SHIFT);
	w->traffic_at = w->now;
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
		defers_run(w);
		ring_submit(w);
		if (!io_uring_cq_ready(&w->ring))
			break;
	}
}

// True if the next round has work already; no system call.
static bool has_work(struct worker *w)
{
	return !list_empty(&w->defers) || !mailbox_is_empty(w) || ring_is_ready(w) ||
	       io_uring_sq_ready(&w->ring) ||
	       atomic_load_explicit(&w->is_stopping, memory_order_relaxed);
}

static void poll_fds(struct worker *w)
{
	static const struct timespec at_once;

	watches_fetch(w, &at_once);
}

// True if work came while it spun.
static bool spin(struct worker *w)
{
	if (!w->spin_ns)
		return false;
	if (w->traffic_at == w->now)
		w->idle_since = w->now = clock_ns();
	// The idle gaps of a sleeping worker include the wake-up of some 20 us: allow half as much
	// more.
	if (w->traffic_gap > w->spin_ns + w->spin_ns / 2)
		return false;
	uint64_t until = w->idle_since + w->spin_ns;
	if (w->now >= until)
		return false;
	if (until > timers_next(w))
		until = timers_next(w);
	counter_add(&w->counters.spins, 1);
	do {
		poll_fds(w);
		w->now = clock_ns();
		bool had_work = pollers_run(w, false);
		if (had_work || w->batch_count || has_work(w))
			return true;
	} while (w->now < until);
	return false;
}

static void sleep_until_event(struct worker *w)
{
	uint64_t next = timers_next(w), left = next > w->now ? next - w->now : 0;
	struct timespec t = {
		.tv_sec = (time_t)(left / NS_PER_SEC),
		.tv_nsec = (long)(left % NS_PER_SEC),
	};

	ring_wakes(w, true);
	atomic_store(&w->is_asleep, true); // and the barrier between ring_wakes and ring_is_ready
	if (pollers_run(w, true) || !mailbox_is_empty(w) || ring_is_ready(w)) {
		poll_fds(w);
	} else {
		counter_add(&w->counters.sleeps, 1);
		watches_fetch(w, next == UINT64_MAX ? NULL : &t);
	}
	atomic_store_explicit(&w->is_asleep, false, memory_order_relaxed);
	ring_wakes(w, false);
	w->now = clock_ns();
}

static void wait_for_work(struct worker *w)
{
	if (has_work(w)) {
		poll_fds(w);
		w->now = clock_ns();
	} else if (!spin(w)) {
		sleep_until_event(w);
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
