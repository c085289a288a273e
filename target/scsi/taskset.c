// SPDX-License-Identifier: BSD-2-Clause
// Task set of one channel: task attributes (SAM-5 8) and waiting for frozen ranges.
//
// Only the tasks of one nexus are ordered among each other. Between nexuses no initiator can
// observe the order of arrival, so that TST=000b (one task set) remains true; and an initiator
// whose ORDERED command waits for its data does not hold up the others. Worker's own thread.
#include "target/scsi/dispatch.h"
#include "target/scsi/lu.h"
#include "target/scsi/nexus.h"
#include "target/scsi/rod_token.h"
#include "target/scsi/task_priv.h"

static struct task *task_of(struct list *link)
{
	return list_entry(link, struct task, link);
}

// SAM-5 8.6: SIMPLE waits for older ORDERED tasks of its nexus, ORDERED for all older ones. HEAD
// OF QUEUE stands in front of the set.
static bool order_permits(const struct lu_channel *c, const struct task *t)
{
	if (t->attr == TASK_HEAD_OF_QUEUE)
		return true;
	list_for_each (it, &c->tasks) {
		const struct task *older = task_of(it);
		if (older == t)
			return true;
		if (older->state == TASK_DONE || older->nl != t->nl)
			continue;
		if (t->is_ordered || older->is_ordered)
			return false;
	}
	return true;
}

static void wait_turn(struct task *t, bool for_range, void (*next)(struct task *t))
{
	t->state = TASK_WAITS_TURN;
	t->waits_range = for_range;
	t->next = next;
	t->nl->channel->turns++;
}

void taskset_enter(struct task *t, void (*next)(struct task *t))
{
	struct lu_channel *c = t->nl->channel;
	t->in_set = true;
	t->state = TASK_RUNNING;
	if (t->attr == TASK_HEAD_OF_QUEUE)
		list_push_front(&c->tasks, &t->link);
	else
		list_push_back(&c->tasks, &t->link);
	if (t->attr == TASK_ORDERED) {
		t->is_ordered = true;
		c->ordered++;
	}
	if (!c->ordered || order_permits(c, t))
		next(t);
	else
		wait_turn(t, false, next);
}

void taskset_done(struct task *t)
{
	if (!t->is_ordered)
		return;
	t->is_ordered = false;
	t->nl->channel->ordered--;
}

void taskset_leave(struct task *t)
{
	taskset_done(t);
	list_remove(&t->link);
	t->in_set = false;
}

void taskset_await_range(struct task *t, void (*next)(struct task *t))
{
	struct lu_channel *c = t->nl->channel;
	if (t->row->flags & OP_WRITES)
		rod_tokens_written(t->lu, t->lba, t->blocks);
	if (list_empty(&c->frozen) || !lu_is_frozen(c, t, t->lba, t->blocks))
		next(t);
	else
		wait_turn(t, true, next);
}

void task_claim(struct task *t, uint64_t lba, uint64_t blocks, void (*next)(struct task *t))
{
	t->lba = lba;
	t->blocks = blocks;
	taskset_await_range(t, next);
}

static bool may_go(const struct lu_channel *c, const struct task *t)
{
	if (t->state != TASK_WAITS_TURN)
		return false;
	return t->waits_range ? !lu_is_frozen(c, t, t->lba, t->blocks) : order_permits(c, t);
}

static struct task *next_ready(const struct lu_channel *c)
{
	list_for_each (it, &c->tasks) {
		if (may_go(c, task_of(it)))
			return task_of(it);
	}
	return NULL;
}

void taskset_kick(struct lu_channel *c)
{
	// A task that goes on may end at once and bring us here again.
	if (c->is_kicking) {
		c->kick_again = true;
		return;
	}
	c->is_kicking = true;
	do {
		c->kick_again = false;
		struct task *t = c->turns ? next_ready(c) : NULL;
		if (!t)
			continue;
		c->turns--;
		c->kick_again = true;
		task_resume(t);
	} while (c->kick_again);
	c->is_kicking = false;
}

static bool is_open(const struct task *t, const struct nexus_lun *nl)
{
	return t->state != TASK_DONE && (!nl || t->nl == nl);
}

static struct task *next_victim(const struct lu_channel *c, const struct nexus_lun *nl)
{
	list_for_each (it, &c->tasks) {
		struct task *t = task_of(it);
		if (is_open(t, nl) && !t->is_aborted)
			return t;
	}
	return NULL;
}

void taskset_abort(struct lu_channel *c, const struct nexus_lun *nl,
		   bool (*sends_status)(const struct task *t, const void *arg), const void *arg)
{
	// Nobody's turn comes while older tasks are being aborted: it is their turn to go, too.
	bool was_kicking = c->is_kicking;
	c->is_kicking = true;
	// done() of one may release others: look anew each time.
	for (struct task *t; (t = next_victim(c, nl));)
		task_abort(t, sends_status && sends_status(t, arg));
	c->is_kicking = was_kicking;
	if (!was_kicking && c->kick_again)
		taskset_kick(c);
}

bool taskset_has_open(const struct lu_channel *c, const struct nexus_lun *nl)
{
	list_for_each (it, &c->tasks) {
		if (is_open(task_of(it), nl))
			return true;
	}
	return false;
}
