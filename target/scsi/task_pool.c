// SPDX-License-Identifier: BSD-2-Clause
// Pool buffers for a task's data, and the share of a nexus. Task's worker.
//
// An initiator that does not send announced data or does not read requested data keeps its tasks'
// buffers. Other initiators are protected as follows:
// - an eighth of a worker's pool is kept: a nexus gets of it what brings it to a 64th of that at
//   most, enough for small commands;
// - of the rest a nexus holds at most a third of what it leaves free: a quarter when it is alone,
//   and the less the more the others hold, so that there is always something left;
// - one that holds nothing may have half of the rest for a single command, and everything
//   when no nexus holds anything, since large commands must work too.
// A session that makes no progress while one that holds nothing waits is ended by the protocol,
// which asks nexus_is_starved().
#include "target/scsi/task_pool.h"

#include <stdlib.h>

#include "target/scsi/nexus.h"

#define KEPT_PART  8  // of the pool, for small commands
#define SMALL_PART 64 // of that, for one nexus
#define RETRIES	   4  // of one nexus per return of memory

static struct task *waiter_of(struct list *link)
{
	return list_entry(link, struct task, buf_wait.link);
}

bool task_pool_reserve(struct task *t, uint32_t n)
{
	if (n <= TASK_SG)
		return true;
	struct sg *sg = calloc(n, sizeof *sg);
	if (!sg)
		return false;
	t->sg = sg;
	return true;
}

static bool share_permits(const struct task *t, uint64_t len)
{
	const struct nexus *n = t->nexus;
	uint64_t kept = n->pool_limit / KEPT_PART, after = n->pool_used + len;
	if (after <= kept / SMALL_PART)
		return true;
	struct buf_pool_stats pool;
	buf_pool_stats(n->worker, &pool);
	if (!pool.bytes_in_use)
		return true;
	uint64_t taken = pool.bytes_in_use + kept;
	uint64_t rest = n->pool_limit > taken ? n->pool_limit - taken : 0;
	if (!n->pool_used && len <= rest / 2)
		return true;
	return len <= rest && after <= (rest - len) / 3;
}

// All buffers or none, so that waiting tasks hold nothing that others need.
bool task_pool_take(struct task *t)
{
	struct worker *w = t->nexus->worker;
	uint32_t len = t->buffer_len;
	t->nsg = 0;
	if (!share_permits(t, len))
		return false;
	t->pooled = len;
	while (len) {
		uint32_t n = len < BUF_MAX ? len : BUF_MAX;
		struct buf *b = buf_get(w, n);
		if (!b) {
			while (t->nsg)
				buf_put(t->sg[--t->nsg].buf);
			t->pooled = 0;
			return false;
		}
		t->sg[t->nsg++] = (struct sg){ .addr = b->addr, .len = n, .buf = b };
		len -= n;
	}
	t->nexus->pool_used += t->pooled;
	return true;
}

struct task *task_pool_serve(struct nexus *n)
{
	unsigned tries = 0;
	list_for_each_safe (it, &n->pool_waiters) {
		if (task_pool_take(waiter_of(it)))
			return waiter_of(it);
		if (++tries == RETRIES)
			break;
	}
	return NULL;
}

void task_buf_charge(struct task *t, uint32_t len)
{
	t->pooled += len;
	t->nexus->pool_used += len;
}

struct buf *task_buf_get(struct task *t, uint32_t len)
{
	struct buf *b = share_permits(t, len) ? buf_get(t->nexus->worker, len) : NULL;
	if (b)
		task_buf_charge(t, len);
	return b;
}

void task_buf_put(struct task *t, struct buf *b, uint32_t len)
{
	if (!b)
		return;
	buf_put(b);
	t->pooled -= len;
	t->nexus->pool_used -= len;
}

void task_buffers_trim(struct task *t, uint32_t len)
{
	uint32_t n = 0;
	for (; n < t->nsg && len; n++) {
		t->sg[n].len = t->sg[n].len < len ? t->sg[n].len : len;
		len -= t->sg[n].len;
	}
	while (t->nsg > n) {
		const struct sg *s = &t->sg[--t->nsg];
		task_buf_put(t, s->buf, s->len);
	}
}

void task_buffers_drop(struct task *t)
{
	for (uint32_t i = 0; i < t->nsg; i++)
		if (t->sg[i].buf != t->lent)
			buf_put(t->sg[i].buf);
	t->nsg = 0;
	t->nexus->pool_used -= t->pooled;
	t->pooled = 0;
}

bool nexus_is_starved(const struct nexus *n)
{
	return !n->pool_used && !list_empty(&n->pool_waiters);
}
