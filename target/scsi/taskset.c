// SPDX-License-Identifier: BSD-2-Clause
// Task set of one channel: task attributes (SAM-5 8) and waiting for frozen ranges.
//
// Only the tasks of one nexus are ordered among each other. Between nexuses no initiator can
// observe the order of arrival, so that TST=000b (one task set) remains true; and an initiator
// whose ORDERED command waits for its data does not hold up the others. What waits stands in
// lists of its own, so that a task that ends costs the same however many wait. Worker's own
// thread.
#include "target/scsi/taskset.h"

#include "target/scsi/freeze.h"
#include "target/scsi/lu_part.h"
#include "target/scsi/lu_round.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/opcode.h"

static struct task *task_of(struct list *link)
{
	return list_entry(link, struct task, link);
}

static struct task *waiter_of(struct list *link)
{
	return list_entry(link, struct task, turn_link);
}

// SAM-5 8.6, for the oldest task of nl that waits: SIMPLE waits for older ORDERED tasks of its
// nexus, ORDERED for all older ones.
static bool order_permits(const struct nexus_lun *nl, const struct task *t)
{
	return t->attr == TASK_ORDERED ? !nl->begun : !nl->is_ordering;
}

static void begin_task(struct task *t)
{
	t->has_begun = true;
	t->nl->begun++;
	if (t->attr == TASK_ORDERED)
		t->nl->is_ordering = true;
}

static void wait_turn(struct task *t, struct list *waiters, void (*next)(struct task *t))
{
	t->state = TASK_WAITS_TURN;
	lu_round_recheck(t);
	t->next = next;
	list_push_back(waiters, &t->turn_link);
}

// HEAD OF QUEUE goes to the front of the set. A task that arrives while others wait is behind them:
// they wait because of an older ORDERED task.
bool taskset_enter(struct task *t, void (*next)(struct task *t))
{
	struct nexus_lun *nl = t->nl;
	bool is_head = t->attr == TASK_HEAD_OF_QUEUE;
	t->in_set = true;
	t->state = TASK_RUNNING;
	list_push_back(&nl->open, &t->nl_link);
	if (is_head)
		list_push_front(&nl->channel->tasks, &t->link);
	else
		list_push_back(&nl->channel->tasks, &t->link);
	if (!is_head && (!list_empty(&nl->turn_waiters) || !order_permits(nl, t))) {
		wait_turn(t, &nl->turn_waiters, next);
		return false;
	}
	begin_task(t);
	return true;
}

static struct task *next_in_order(const struct nexus_lun *nl)
{
	struct list *first = list_first(&nl->turn_waiters);
	return first && order_permits(nl, waiter_of(first)) ? waiter_of(first) : NULL;
}

void taskset_done(struct task *t)
{
	struct nexus_lun *nl = t->nl;
	if (!t->is_aborted)
		list_remove(&t->nl_link);
	if (t->has_begun) {
		t->has_begun = false;
		nl->begun--;
		if (t->attr == TASK_ORDERED)
			nl->is_ordering = false;
	}
	if (next_in_order(nl) && !list_linked(&nl->ready_link))
		list_push_back(&nl->channel->ready, &nl->ready_link);
}

void taskset_aborted(struct task *t)
{
	list_remove(&t->nl_link);
	list_push_back(&t->nl->aborting, &t->nl_link);
}

// Those that wait continue in the worker's loop: the last task has yet to reach done().
static void aborts_ended(struct nexus_lun *nl)
{
	for (struct list *it; (it = list_pop_front(&nl->abort_waiters));)
		worker_post(nl->channel->worker, &list_entry(it, struct aborts_wait, link)->msg);
}

bool taskset_await_aborts(struct nexus_lun *nl, struct aborts_wait *w, void (*fn)(struct msg *m))
{
	if (list_empty(&nl->aborting))
		return false;
	w->msg.fn = fn;
	list_push_back(&nl->abort_waiters, &w->link);
	return true;
}

void taskset_leave(struct task *t)
{
	if (t->awaited_by)
		lu_round_watch_next(t, true);
	for (struct taskset_walk *w = t->nl->channel->walk; w; w = w->outer)
		if (w->next == &t->link)
			w->next = t->link.next;
	list_remove(&t->link);
	t->in_set = false;
	if (!t->is_aborted || !list_linked(&t->nl_link))
		return;
	list_remove(&t->nl_link);
	if (list_empty(&t->nl->aborting))
		aborts_ended(t->nl);
}

// The newest range on c that is frozen for another task and overlaps that of t, or NULL. The newest
// one, since that is often the last to go.
static struct lu_frozen *frozen_by(const struct lu_channel *c, const struct task *t)
{
	for (struct list *it = c->frozen.prev; it != &c->frozen; it = it->prev) {
		struct lu_frozen *f = list_entry(it, struct lu_frozen, link);
		if (f->is_for_writes && !(t->row->flags & OP_WRITES))
			continue;
		if (f->owner != t && lu_ranges_overlap(f->lba, f->blocks, t->lba, t->blocks))
			return f;
	}
	return NULL;
}

bool taskset_enter_range(struct task *t, void (*next)(struct task *t))
{
	struct lu_channel *c = t->nl->channel;
	if (t->row->flags & OP_WRITES)
		lu_note_write(t->lu, t->lba, t->blocks);
	struct lu_frozen *f = list_empty(&c->frozen) ? NULL : frozen_by(c, t);
	if (f)
		wait_turn(t, &f->waiters, next);
	return !f;
}

void taskset_thawed(struct lu_channel *c, struct lu_frozen *f)
{
	list_splice_back(&c->thawed, &f->waiters);
}

static struct task *next_ready(struct lu_channel *c)
{
	for (struct list *it; (it = list_first(&c->ready));) {
		struct task *t = next_in_order(list_entry(it, struct nexus_lun, ready_link));
		if (t) {
			list_remove(&t->turn_link);
			begin_task(t);
			return t;
		}
		list_remove(it);
	}
	return NULL;
}

static struct task *next_thawed(struct lu_channel *c)
{
	for (struct list *it; (it = list_pop_front(&c->thawed));) {
		struct lu_frozen *f = frozen_by(c, waiter_of(it));
		if (!f)
			return waiter_of(it);
		list_push_back(&f->waiters, it);
	}
	return NULL;
}

struct task *taskset_next(struct lu_channel *c)
{
	struct task *t = next_ready(c);
	return t ? t : next_thawed(c);
}

void taskset_walk_begin(struct taskset_walk *w, struct lu_channel *c)
{
	*w = (struct taskset_walk){ .channel = c, .next = c->tasks.next, .outer = c->walk };
	c->walk = w;
}

struct task *taskset_walk_next(struct taskset_walk *w)
{
	if (w->next == &w->channel->tasks) {
		w->channel->walk = w->outer;
		return NULL;
	}
	struct task *t = task_of(w->next);
	w->next = w->next->next;
	return t;
}
