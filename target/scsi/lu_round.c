// SPDX-License-Identifier: BSD-2-Clause
// Rounds: one piece of work on every worker that has a channel of a logical unit, see lu.h.
// One worker asks, every worker answers on its own thread.
#include "target/scsi/lu_round.h"

#include "target/scsi/lu.h"
#include "target/scsi/lu_channel.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_ops.h"
#include "target/scsi/task.h"

// As long as LIO gives a data-out at most; less than initiators wait for a command (30 s). What is
// only to be read has a third of it.
uint32_t lu_round_limit_ms = 15000;
#define LOOKS 3

static void round_finished(struct msg *m)
{
	struct lu_round *r = container_of(m, struct lu_round_slot, msg)->round;
	struct lu *lu = r->lu;
	r->ops->done(r); // may free r
	lu_put(lu);
}

// One answer less is missing. The last one goes home.
static void round_ack(struct lu_round *r, struct lu_round_slot *slot)
{
	if (__atomic_sub_fetch(&r->pending, 1, __ATOMIC_ACQ_REL))
		return;
	if (worker_self() == r->home) {
		round_finished(&slot->msg);
		return;
	}
	slot->msg.fn = round_finished;
	worker_post(r->home, &slot->msg);
}

// The first task from it on that the round waits for becomes its blocker. False: there is no more.
static bool round_watch(struct lu_round_slot *slot, struct list *it)
{
	const struct lu_round *r = slot->round;
	for (; r->ops->awaits && it != &slot->channel->tasks; it = it->next) {
		struct task *t = list_entry(it, struct task, link);
		if (!r->ops->awaits(r, t))
			continue;
		slot->next = t->awaited_by;
		t->awaited_by = slot;
		return true;
	}
	return false;
}

static bool is_overdue(const struct lu_round_slot *slot, const struct task *t)
{
	if (t->state == TASK_WAITS_SENT || (t->state == TASK_DONE && t->data_in))
		return true;
	return slot->looks >= LOOKS && (t->state == TASK_WAITS_DATA || t->state == TASK_DONE);
}

static struct task *round_find_overdue(const struct lu_round_slot *slot)
{
	const struct lu_round *r = slot->round;
	list_for_each (it, &slot->channel->tasks) {
		struct task *t = list_entry(it, struct task, link);
		if (!t->nexus->is_overdue && is_overdue(slot, t) && r->ops->awaits(r, t))
			return t;
	}
	return NULL;
}

static void limit_arm(struct lu_round_slot *slot, uint32_t msecs)
{
	timer_arm(slot->channel->worker, &slot->limit, (uint64_t)msecs * 1000);
}

// One nexus at a time: what is done to it may end the round.
static void limit_over(struct timer *timer)
{
	struct lu_round_slot *slot = container_of(timer, struct lu_round_slot, limit);
	if (!slot->is_telling)
		slot->looks++;
	struct task *t = round_find_overdue(slot);
	slot->is_telling = t;
	limit_arm(slot, t ? 0 : lu_round_limit_ms / LOOKS);
	if (!t)
		return;
	t->nexus->is_overdue = true;
	if (t->nexus->ops->overdue)
		t->nexus->ops->overdue(t->nexus, slot->looks * lu_round_limit_ms / LOOKS / 1000);
}

static void round_serve(struct lu_round_slot *slot)
{
	struct lu_round *r = slot->round;
	struct lu_channel *c = slot->channel;
	if (r->ops->each)
		r->ops->each(c, r);
	if (!round_watch(slot, c->tasks.next)) {
		round_ack(r, slot);
		return;
	}
	timer_init(&slot->limit, limit_over);
	limit_arm(slot, lu_round_limit_ms / LOOKS);
}

static void round_arrived(struct msg *m)
{
	round_serve(container_of(m, struct lu_round_slot, msg));
}

static void round_settled(struct msg *m)
{
	struct lu_round_slot *slot = container_of(m, struct lu_round_slot, msg);
	round_ack(slot->round, slot);
}

// A round looks on from where it was: those before t it need not wait for. So all its steps
// together take one walk over the tasks.
void lu_round_watch_next(struct task *t, bool is_leaving)
{
	struct lu_round_slot *slot = t->awaited_by, *next;
	t->awaited_by = NULL;
	for (; slot; slot = next) {
		next = slot->next;
		if (round_watch(slot, is_leaving ? t->link.next : &t->link))
			continue;
		timer_cancel(slot->channel->worker, &slot->limit);
		slot->msg.fn = round_settled;
		worker_post(slot->channel->worker, &slot->msg);
	}
}

void lu_round_start(struct lu_round *r, struct lu *lu, const struct lu_round_ops *ops)
{
	struct lu_channel *channels[WORKER_MAX];
	unsigned n = 0;
	pthread_mutex_lock(&lu->lock);
	for (unsigned i = 0; i < WORKER_MAX; i++) {
		if (lu->channels[i])
			channels[n++] = lu->channels[i];
	}
	pthread_mutex_unlock(&lu->lock);

	r->ops = ops;
	r->lu = lu_get(lu);
	r->home = worker_self();
	// One answer is this function's own: done() cannot come before all are on their way.
	r->pending = n + 1;
	struct lu_round_slot *own = NULL;
	for (unsigned i = 0; i < n; i++) {
		struct lu_round_slot *slot = &r->slots[worker_index(channels[i]->worker)];
		*slot = (struct lu_round_slot){ .round = r, .channel = channels[i] };
		if (channels[i]->worker == r->home) {
			own = slot;
			continue;
		}
		slot->msg.fn = round_arrived;
		worker_post(channels[i]->worker, &slot->msg);
	}
	if (own)
		round_serve(own);
	r->own.round = r;
	round_ack(r, &r->own);
}
