// SPDX-License-Identifier: BSD-2-Clause
// How a worker waits, on its thread. It sleeps until something happens or the next timer is due;
// before that it polls in user space, for a bounded time, if something is likely to happen soon:
//
//   a request	   judged by the moving average of how long the worker was idle before recent ones;
//		   if that is longer, by trial (spin_trial.h)
//   a completion  of the ring, judged by how long such operations took before (worker_expect)
//
// While operations are in flight it sleeps in the ring, which then watches the epoll instance:
// submitting and sleeping is one system call, and polling none. Otherwise it sleeps in epoll, which
// returns the events at once.
#include "core/counter.h"
#include "core/worker_priv.h"

#include <sched.h>

#define GAP_SHIFT    3	    // the moving average's weight: 1/8
#define GAP_CAP	     5	    // upper bound of one pause, in limits
#define GAP_LIMIT_NS 75000u // or 3/4 of the spin time

#define SPIN_MOST_NS SPIN_REQUEST_NS // where a trial shows that it pays off

#define EARLY_PART(ns) ((ns) / 4 * 3) // of the spin time, before a completion is expected
#define SLEEP_MIN_NS   4000u	      // a shorter sleep is not worth its wake-up
#define WAKE_SHIFT     3

// Whether others wait for this CPU: then the worker does not poll for completions for a while. It
// yields now and then and reads the clock; a timer tick of a virtual machine takes up to 0.1 ms.
uint64_t wait_preempted_ns = 250000;
#define PROBE_NS  100000000u
#define SHARED_NS 1000000000u

// Requests that come less often are not worth the CPU time. The idle gaps of a sleeping worker
// include the wake-up of some 20 us: a short spin time allows half as much more.
static uint64_t gap_limit(const struct worker *w)
{
	uint64_t most = w->spin_ns / 4 * 3, limit = w->spin_ns / 2 * 3;
	if (most < GAP_LIMIT_NS)
		most = GAP_LIMIT_NS;
	return limit < most ? limit : most;
}

void worker_note_traffic(struct worker *w)
{
	if (!w->spin_ns || w->traffic_at == w->now)
		return;
	// Work of the last round may have ended after this one's clock was read.
	uint64_t gap = w->now > w->idle_since ? w->now - w->idle_since : 0;
	uint64_t cap = gap_limit(w) * GAP_CAP;
	if (gap > cap)
		gap = cap;
	w->traffic_gap += (gap >> GAP_SHIFT) - (w->traffic_gap >> GAP_SHIFT);
	w->traffic_at = w->now;
	if (w->traffic_gap > gap_limit(w))
		spin_trial_note(&w->spin_trial, w->now, w->counters.requests);
	else if (w->spin_trial.since_ns)
		spin_trial_reset(&w->spin_trial);
}

void worker_count_request(struct worker *w)
{
	counter_add(&w->counters.requests, 1);
}

// True if the next round has work already; no system call.
static bool has_work(struct worker *w)
{
	return w->batch_next < w->batch_count || !list_empty(&w->defers) || !mailbox_is_empty(w) ||
	       ring_is_ready(w) || io_uring_sq_ready(&w->ring) ||
	       atomic_load_explicit(&w->is_stopping, memory_order_relaxed);
}

static void poll_fds(struct worker *w)
{
	if (!w->is_ring_watching)
		watches_fetch_ready(w);
}

// Polls everything once; true if there is work.
static bool poll_all(struct worker *w)
{
	poll_fds(w);
	w->now = clock_ns();
	return pollers_run(w, false) || has_work(w) || timers_next(w) <= w->now;
}

// --- for a request

static uint64_t spin_time(const struct worker *w)
{
	if (!w->spin_ns || w->traffic_gap <= gap_limit(w))
		return w->spin_ns;
	return w->spin_trial.is_polling ? SPIN_MOST_NS : 0;
}

// True if work came while it spun.
static bool spin(struct worker *w)
{
	uint64_t most = spin_time(w), until = w->idle_since + most;
	if (!most || w->now >= until)
		return false;
	counter_add(&w->counters.spins, 1);
	do {
		if (poll_all(w))
			return true;
	} while (w->now < until);
	return false;
}

// --- for a completion

void worker_expect(struct worker *w, struct uring_op *op, uint64_t ns, uint64_t deviation)
{
	op->since_ns = w->now;
	op->expected_ns = ns;
	if (!ns || !w->spin_ns || deviation > w->spin_ns)
		return;
	// Lists of operations that take about as long, in the order of submission.
	unsigned i = 63 - (unsigned)__builtin_clzll(ns);
	list_push_back(&w->expected[i < EXPECTED_LISTS ? i : EXPECTED_LISTS - 1], &op->link);
}

uint64_t worker_elapsed(struct worker *w, const struct uring_op *op)
{
	uint64_t late = w->has_slept ? w->wake_ns : 0, ns = w->now - op->since_ns;
	return ns > late ? ns - late : 0;
}

static uint64_t due(const struct uring_op *op)
{
	return op->since_ns + op->expected_ns;
}

// The operation that is expected to complete next, or NULL.
static struct uring_op *next_expected(struct worker *w)
{
	struct uring_op *next = NULL;
	for (unsigned i = 0; i < EXPECTED_LISTS; i++) {
		if (list_empty(&w->expected[i]))
			continue;
		struct uring_op *op = list_entry(w->expected[i].next, struct uring_op, link);
		if (!next || due(op) < due(next))
			next = op;
	}
	return next;
}

static bool is_shared(struct worker *w)
{
	if (w->now < w->shared_until)
		return true;
	if (w->now < w->probe_at)
		return false;
	uint64_t before = w->now;
	sched_yield();
	w->now = clock_ns();
	w->probe_at = w->now + PROBE_NS;
	if (w->now - before > wait_preempted_ns)
		w->shared_until = w->now + SHARED_NS;
	return w->now < w->shared_until;
}

// True if there is work. Each operation is polled for once.
static bool poll_for(struct worker *w, struct uring_op *op)
{
	uint64_t until = w->now + w->spin_ns, before;
	uint64_t late = due(op) + w->spin_ns - EARLY_PART(w->spin_ns);
	if (until > late)
		until = late;
	counter_add(&w->counters.polls, 1);
	do {
		before = w->now;
		if (poll_all(w))
			return true;
		if (w->now - before > wait_preempted_ns)
			w->probe_at = w->now;
		if (is_shared(w))
			return false;
	} while (w->now < until);
	counter_add(&w->counters.polls_missed, 1);
	list_remove(&op->link);
	// Others that were expected by now are as late.
	while ((op = next_expected(w)) && due(op) <= w->now)
		list_remove(&op->link);
	return false;
}

// Polls, if it is time to, for what is expected. True if there is work; else *ret_until is when to
// poll next, at the latest.
static bool poll_expected(struct worker *w, uint64_t *ret_until)
{
	struct uring_op *op;
	while ((op = next_expected(w)) && !is_shared(w)) {
		uint64_t from = due(op) - EARLY_PART(w->spin_ns) - w->wake_ns;
		if ((int64_t)(from - w->now) > SLEEP_MIN_NS) {
			*ret_until = from;
			return false;
		}
		if (poll_for(w, op))
			return true;
	}
	return false;
}

// --- sleep

// How late a worker is when it sleeps until a certain time.
static void note_wake(struct worker *w, uint64_t until)
{
	if (w->now < until)
		return;
	uint64_t late = w->now - until;
	if (late > w->spin_ns)
		late = w->spin_ns;
	w->wake_ns += (late >> WAKE_SHIFT) - (w->wake_ns >> WAKE_SHIFT);
}

static void sleep_until(struct worker *w, uint64_t until)
{
	uint64_t left = until > w->now ? until - w->now : 0;
	struct timespec t = {
		.tv_sec = (time_t)(left / NS_PER_SEC),
		.tv_nsec = (long)(left % NS_PER_SEC),
	};
	const struct timespec *timeout = until == UINT64_MAX ? NULL : &t;

	counter_add(&w->counters.sleeps, 1);
	if (w->is_ring_watching)
		ring_wait(w, timeout);
	else
		watches_fetch(w, timeout);
}

static void sleep_until_event(struct worker *w, uint64_t until)
{
	bool is_timed = until < timers_next(w);

	if (w->in_flight)
		ring_watch_fds(w);
	atomic_store(&w->is_asleep, true);
	if (pollers_run(w, true) || !mailbox_is_empty(w) || ring_is_ready(w))
		poll_fds(w);
	else
		sleep_until(w, is_timed ? until : timers_next(w));
	atomic_store_explicit(&w->is_asleep, false, memory_order_relaxed);
	w->now = clock_ns();
	w->has_slept = true;
	if (is_timed)
		note_wake(w, until);
}

void wait_for_work(struct worker *w)
{
	uint64_t until = UINT64_MAX;

	w->has_slept = false;
	if (has_work(w)) {
		poll_fds(w);
		w->now = clock_ns();
		return;
	}
	bool had_request = w->traffic_at == w->now || w->worked_at == w->now;
	w->now = clock_ns();
	if (had_request)
		w->idle_since = w->now;
	uint64_t from = w->now;
	bool had_work = poll_expected(w, &until) || (until == UINT64_MAX && spin(w));
	counter_add(&w->counters.polled_ns, w->now - from);
	if (!had_work)
		sleep_until_event(w, until);
}
