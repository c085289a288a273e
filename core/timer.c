// SPDX-License-Identifier: BSD-2-Clause
// Timers of a worker, on its thread: an intrusive pairing heap, so that arming never allocates.
// A node's prev is its parent if it is the first child, else the sibling before it.
#include "core/worker_priv.h"

// Melds two heaps: the later root becomes the first child of the earlier one.
static struct timer *meld(struct timer *a, struct timer *b)
{
	if (b->deadline_ns < a->deadline_ns) {
		struct timer *t = a;
		a = b;
		b = t;
	}
	b->prev = a;
	b->next = a->child;
	if (a->child)
		a->child->prev = b;
	a->child = b;
	return a;
}

// Melds siblings into one heap: in pairs, then the pairs from the right.
static struct timer *meld_siblings(struct timer *t)
{
	struct timer *pairs = NULL, *root = NULL;

	while (t) {
		struct timer *a = t, *b = t->next;
		t = b ? b->next : NULL;
		a->next = a->prev = NULL;
		if (b) {
			b->next = b->prev = NULL;
			a = meld(a, b);
		}
		a->next = pairs;
		pairs = a;
	}
	while (pairs) {
		struct timer *a = pairs;
		pairs = a->next;
		a->next = NULL;
		root = root ? meld(root, a) : a;
	}
	return root;
}

static void detach(struct timer *t)
{
	if (t->prev->child == t)
		t->prev->child = t->next;
	else
		t->prev->next = t->next;
	if (t->next)
		t->next->prev = t->prev;
}

static void heap_remove(struct worker *w, struct timer *t)
{
	struct timer *rest;

	if (t != w->timers)
		detach(t);
	rest = meld_siblings(t->child);
	if (t == w->timers)
		w->timers = rest;
	else if (rest)
		w->timers = meld(w->timers, rest);
	t->child = t->next = t->prev = NULL;
	t->is_armed = false;
}

void timer_init(struct timer *t, void (*fn)(struct timer *t))
{
	*t = (struct timer){ .fn = fn };
}

void timer_arm(struct worker *w, struct timer *t, uint64_t usec)
{
	if (t->is_armed)
		heap_remove(w, t);
	uint64_t room = UINT64_MAX - 1 - w->now;
	t->deadline_ns = w->now + (usec > room / NS_PER_USEC ? room : usec * NS_PER_USEC);
	// A timer that re-arms itself with 0 must not keep timers_run() from ending.
	if (w->runs_timers && t->deadline_ns <= w->now)
		t->deadline_ns = w->now + 1;
	t->is_armed = true;
	w->timers = w->timers ? meld(w->timers, t) : t;
}

void timer_cancel(struct worker *w, struct timer *t)
{
	if (t->is_armed)
		heap_remove(w, t);
}

bool timer_is_armed(const struct timer *t)
{
	return t->is_armed;
}

uint64_t timers_next(const struct worker *w)
{
	return w->timers ? w->timers->deadline_ns : UINT64_MAX;
}

void timers_run(struct worker *w)
{
	w->runs_timers = true;
	while (w->timers && w->timers->deadline_ns <= w->now) {
		struct timer *t = w->timers;
		heap_remove(w, t);
		t->fn(t);
	}
	w->runs_timers = false;
}
