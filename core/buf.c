// SPDX-License-Identifier: BSD-2-Clause
// The buffer pool of a worker, on its thread: quick lists in front of the buddy system, so that
// the usual get and put are a pop and a push; waiters; freeing of idle memory.
#include "core/buf_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/counter.h"

// How much of one size may stay unmerged: 1 MiB, at least 2 and at most 64 buffers.
static const unsigned quick_max[BUF_ORDERS] = { 64, 64, 64, 32, 16, 8, 4, 2, 2 };

#define TRIM_USEC  10000000u // idle memory is freed after one to two intervals
#define RETRY_USEC 100000u   // retry interval while the system has no memory and there are waiters

static void wake_run(struct defer *d);
static void trim_run(struct timer *t);

struct buf_pool *buf_pool_new(struct worker *w, uint64_t limit)
{
	struct buf_pool *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->worker = w;
	p->extents_max =
		limit / EXTENT_SIZE < EXTENTS_MAX ? (unsigned)(limit / EXTENT_SIZE) : EXTENTS_MAX;
	if (!p->extents_max)
		p->extents_max = 1;
	p->extents = calloc(p->extents_max, sizeof(struct buf_extent *));
	if (!p->extents) {
		free(p);
		return NULL;
	}
	for (unsigned i = 0; i < BUF_ORDERS; i++) {
		list_init(&p->quick[i]);
		list_init(&p->free[i]);
	}
	list_init(&p->waiters);
	timer_init(&p->trim, trim_run);
	return p;
}

void buf_pool_free(struct buf_pool *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < p->extents_max; i++)
		if (p->extents[i])
			extent_free(p->extents[i]);
	free(p->extents);
	free(p);
}

// Merges the contents of the quick lists. True if there were any.
static bool quick_flush(struct buf_pool *p)
{
	bool ret = false;

	for (unsigned i = 0; i < BUF_ORDERS; i++) {
		for (struct list *n; (n = list_pop_front(&p->quick[i]));) {
			buddy_put(list_entry(n, struct buf, link));
			ret = true;
		}
		p->quick_count[i] = 0;
	}
	return ret;
}

// The quick list was empty.
static struct buf *get_slowly(struct buf_pool *p, unsigned order)
{
	struct buf *b = buddy_get(p, order);

	if (!b && quick_flush(p))
		b = buddy_get(p, order);
	if (!b && extent_add(p) == 0) {
		b = buddy_get(p, order);
		if (p->extent_count > 1 && !timer_is_armed(&p->trim))
			timer_arm(p->worker, &p->trim, TRIM_USEC);
	}
	return b;
}

struct buf *buf_get(struct worker *w, uint32_t len)
{
	struct buf_pool *p = worker_pool(w);
	struct buf *b;

	if (len > BUF_MAX)
		return NULL;
	unsigned order = len <= BUF_MIN ? 0 : 32 - __builtin_clz((len - 1) / BUF_MIN);
	struct list *n = list_pop_front(&p->quick[order]);
	if (n) {
		p->quick_count[order]--;
		b = list_entry(n, struct buf, link);
	} else if (!(b = get_slowly(p, order))) {
		p->exhausted++;
		return NULL;
	}
	p->in_use += b->size;
	if (p->peak < p->in_use)
		p->peak = p->in_use;
	buf_allow(b->addr, b->size);
	return b;
}

void buf_put(struct buf *b)
{
	if (!b)
		return;
	struct buf_pool *p = b->pool;
	p->in_use -= b->size;
	buf_forbid(b->addr, b->size);
	if (p->quick_count[b->order] < quick_max[b->order]) {
		p->quick_count[b->order]++;
		list_push_front(&p->quick[b->order], &b->link);
	} else {
		buddy_put(b);
	}
	if (!list_empty(&p->waiters))
		worker_defer(p->worker, &p->wake, wake_run);
}

int buf_reserve(struct worker *w, uint64_t bytes)
{
	struct buf_pool *p = worker_pool(w);
	uint64_t extents = bytes / EXTENT_SIZE + !!(bytes % EXTENT_SIZE);

	if (extents > p->extents_max)
		return -ENOMEM;
	while (p->extent_count < extents) {
		int r = extent_add(p);
		if (r < 0)
			return r;
	}
	if (p->extents_kept < extents)
		p->extents_kept = (unsigned)extents;
	for (unsigned i = 0; i < p->extents_max; i++)
		if (p->extents[i])
			extent_touch(p->extents[i]);
	return 0;
}

void buf_wait_add(struct worker *w, struct buf_wait *wait, void (*fn)(struct buf_wait *wait))
{
	struct buf_pool *p = worker_pool(w);

	wait->fn = fn;
	if (list_linked(&wait->link))
		return;
	list_push_back(&p->waiters, &wait->link);
	// Below the limit it was the system that refused, so a put may never come.
	if (p->extent_count < p->extents_max)
		timer_arm(w, &p->trim, RETRY_USEC);
}

void buf_wait_cancel(struct buf_wait *wait)
{
	list_remove(&wait->link);
}

// Calls each waiter once, oldest first. One that fails again queues itself behind the others that
// failed, so it keeps its place. A later one that needs less may still succeed, and an earlier one
// may depend on it.
static void wake_run(struct defer *d)
{
	struct buf_pool *p = container_of(d, struct buf_pool, wake);
	struct list asked;

	list_init(&asked);
	list_splice_back(&asked, &p->waiters);
	for (struct list *n; (n = list_pop_front(&asked));) {
		struct buf_wait *wait = list_entry(n, struct buf_wait, link);
		wait->fn(wait);
	}
}

// Frees empty extents beyond the recent peak of use.
static void trim_extents(struct buf_pool *p)
{
	uint64_t keep = (p->peak + EXTENT_SIZE - 1) / EXTENT_SIZE;

	if (keep < p->extents_kept)
		keep = p->extents_kept;
	if (!keep)
		keep = 1;
	p->peak = p->in_use;
	if (p->extent_count <= keep)
		return;
	quick_flush(p);
	for (unsigned i = p->extents_max; i-- && p->extent_count > keep;)
		if (p->extents[i] && !p->extents[i]->pages_used)
			extent_remove(p->extents[i]);
}

static void trim_run(struct timer *t)
{
	struct buf_pool *p = container_of(t, struct buf_pool, trim);

	if (!list_empty(&p->waiters))
		worker_defer(p->worker, &p->wake, wake_run);
	else
		trim_extents(p);
	if (p->extent_count > 1)
		timer_arm(p->worker, t, TRIM_USEC);
}

void buf_pool_stats(struct worker *w, struct buf_pool_stats *ret)
{
	const struct buf_pool *p = worker_pool(w);

	*ret = (struct buf_pool_stats){
		.bytes_reserved = (uint64_t)p->extent_count * EXTENT_SIZE,
		.bytes_in_use = p->in_use,
		.bytes_limit = (uint64_t)p->extents_max * EXTENT_SIZE,
		.exhausted = p->exhausted,
	};
}

void buf_copied(struct worker *w, struct buf_copies *of, size_t len)
{
	struct worker_counters *c = worker_counters(w);

	counter_add(&c->payload_copies, 1);
	counter_add(&c->payload_copy_bytes, len);
	if (of) {
		of->count++;
		of->bytes += len;
	}
}

void buf_copy(struct worker *w, void *to, const void *from, size_t len)
{
	buf_copied(w, NULL, len);
	memcpy(to, from, len);
}

void buf_copy_for(struct worker *w, struct buf_copies *of, void *to, const void *from, size_t len)
{
	buf_copied(w, of, len);
	memcpy(to, from, len);
}
