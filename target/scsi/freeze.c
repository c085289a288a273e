// SPDX-License-Identifier: BSD-2-Clause
// Freezes: a task's exclusive hold of a range of blocks on every channel, for COMPARE AND
// WRITE and its like (SBC-3 5.2: no other command touches the blocks between the read and the
// write).
//
// The home worker keeps the oldest requests in a FIFO and activates one when no older one overlaps;
// a round then tells every channel, which answers when its last overlapping task has ended.
// The range of an active freeze stands in each channel's list, where server/submit.c looks. How
// many there are at a time is limited, since commands and freezes look at each of them; the others
// queue.
#include "target/scsi/freeze.h"

#include <errno.h>
#include <stdlib.h>

#include "target/scsi/lu.h"
#include "target/scsi/lu_channel.h"
#include "target/scsi/lu_part.h"
#include "target/scsi/lu_round.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/nexus.h"
#include "target/scsi/task_priv.h"
#include "target/scsi/task_status.h"
#include "target/scsi/taskset.h"

#define FREEZES_MAX 128
#define REFILL	    16 // of the queue, in one turn of the worker's loop

struct freeze_round {
	struct lu_round round;
	struct lu_freeze *freeze;
	struct lu_frozen frozen[WORKER_MAX];
};

struct lu_freeze {
	struct task_hold hold;
	struct list link; // in lu->freezes or lu->freeze_queue; home worker
	struct lu *lu;	  // reference held
	struct worker *worker;
	struct task *task; // until it has ended
	const struct task *owner;
	uint64_t lba, blocks;
	void (*granted)(struct task *t);
	bool is_active;		    // under lu->lock
	struct freeze_round *round; // since it is active; NULL then: no memory
	struct msg msg;
};

static void channel_add(struct lu_channel *c, struct lu_freeze *f)
{
	struct lu_frozen *z = &f->round->frozen[worker_index(c->worker)];
	if (list_linked(&z->link))
		return; // the channel is new and took it from lu->freezes
	z->lba = f->lba;
	z->blocks = f->blocks;
	z->owner = f->owner;
	list_push_back(&c->frozen, &z->link);
}

// The active freezes.
static void channel_init(struct lu_channel *c)
{
	list_for_each (it, &c->lu->freezes) {
		struct lu_freeze *f = list_entry(it, struct lu_freeze, link);
		if (f->is_active && f->round)
			channel_add(c, f);
	}
}

static struct lu_freeze *freeze_of(const struct lu_round *r)
{
	return container_of(r, const struct freeze_round, round)->freeze;
}

static void freeze_each(struct lu_channel *c, struct lu_round *r)
{
	channel_add(c, freeze_of(r));
}

// Tasks that have started and overlap are waited for, also those whose memory is still in
// the transport's hands; but not those that wait for a freeze of their own, nor those that look
// again before they touch the medium: a peer decides when their data comes.
static bool freeze_awaits(const struct lu_round *r, const struct task *t)
{
	const struct lu_freeze *f = freeze_of(r);
	if (t == f->owner || (t->hold && t->hold->is_freeze) || t->state == TASK_WAITS_TURN ||
	    task_has_yet_to_begin(t))
		return false;
	return lu_ranges_overlap(f->lba, f->blocks, t->lba, t->blocks);
}

static void freeze_grant(struct msg *m)
{
	struct lu_freeze *f = container_of(m, struct lu_freeze, msg);
	if (!f->round && !f->task->is_aborted) {
		task_finish(f->task, STATUS_BUSY);
		return;
	}
	f->task->next = f->granted;
	task_resume(f->task); // an aborted task ends here, and thaws
}

static void send_grant(struct lu_freeze *f)
{
	if (f->worker == worker_self()) {
		freeze_grant(&f->msg);
		return;
	}
	f->msg.fn = freeze_grant;
	worker_post(f->worker, &f->msg);
}

static void freeze_granted(struct lu_round *r)
{
	send_grant(freeze_of(r));
}

static const struct lu_round_ops freeze_round_ops = {
	.each = freeze_each,
	.awaits = freeze_awaits,
	.done = freeze_granted,
};

static bool has_older_overlap(const struct lu *lu, const struct lu_freeze *f)
{
	list_for_each (it, &lu->freezes) {
		const struct lu_freeze *older = list_entry(it, struct lu_freeze, link);
		if (older == f)
			return false;
		if (lu_ranges_overlap(f->lba, f->blocks, older->lba, older->blocks))
			return true;
	}
	return false;
}

static void freeze_activate(struct lu_freeze *f)
{
	struct freeze_round *r = calloc(1, sizeof *r);
	pthread_mutex_lock(&f->lu->lock);
	f->is_active = true;
	f->round = r;
	pthread_mutex_unlock(&f->lu->lock);
	if (!r) {
		send_grant(f);
		return;
	}
	r->freeze = f;
	for (unsigned i = 0; i < WORKER_MAX; i++)
		list_init(&r->frozen[i].waiters);
	lu_round_start(&r->round, f->lu, &freeze_round_ops);
}

static void freeze_enter(struct lu *lu, struct lu_freeze *f)
{
	lu->freeze_count++;
	pthread_mutex_lock(&lu->lock);
	list_push_back(&lu->freezes, &f->link);
	pthread_mutex_unlock(&lu->lock);
	if (!has_older_overlap(lu, f))
		freeze_activate(f);
}

static void freeze_arrived(struct msg *m)
{
	struct lu_freeze *f = container_of(m, struct lu_freeze, msg);
	struct lu *lu = f->lu;
	if (lu->freeze_count < FREEZES_MAX && list_empty(&lu->freeze_queue))
		freeze_enter(lu, f);
	else
		list_push_back(&lu->freeze_queue, &f->link);
}

static void refill_post(struct lu *lu);

static void refill(struct msg *m)
{
	struct lu *lu = container_of(m, struct lu, freeze_msg);
	lu->is_freeze_posted = false;
	for (unsigned i = 0; i < REFILL && lu->freeze_count < FREEZES_MAX; i++) {
		struct list *it = list_pop_front(&lu->freeze_queue);
		if (!it)
			break;
		freeze_enter(lu, list_entry(it, struct lu_freeze, link));
	}
	refill_post(lu);
	lu_put(lu);
}

// In a turn of its own: an entry may be granted and end at once.
static void refill_post(struct lu *lu)
{
	if (lu->is_freeze_posted || list_empty(&lu->freeze_queue) ||
	    lu->freeze_count >= FREEZES_MAX)
		return;
	lu->is_freeze_posted = true;
	lu->freeze_msg.fn = refill;
	lu_get(lu);
	worker_post(lu->home, &lu->freeze_msg);
}

static void send_home(struct lu_freeze *f, void (*fn)(struct msg *m))
{
	if (f->worker == f->lu->home) {
		fn(&f->msg);
		return;
	}
	f->msg.fn = fn;
	worker_post(f->lu->home, &f->msg);
}

static void thaw_each(struct lu_channel *c, struct lu_round *r)
{
	struct lu_frozen *z =
		&container_of(r, struct freeze_round, round)->frozen[worker_index(c->worker)];
	list_remove(&z->link);
	taskset_thawed(c, z);
	task_resume_waiting(c);
}

static void freeze_free(struct lu_freeze *f)
{
	struct lu *lu = f->lu;
	free(f->round);
	free(f);
	lu_put(lu);
}

static void thaw_finished(struct lu_round *r)
{
	freeze_free(freeze_of(r));
}

static const struct lu_round_ops thaw_round_ops = { .each = thaw_each, .done = thaw_finished };

static void freeze_end(struct lu_freeze *f)
{
	if (f->round)
		lu_round_start(&f->round->round, f->lu, &thaw_round_ops);
	else
		freeze_free(f);
}

// The first that waited for [lba, lba + blocks) and for no other freeze.
static struct lu_freeze *next_to_activate(const struct lu *lu, uint64_t lba, uint64_t blocks)
{
	list_for_each (it, &lu->freezes) {
		struct lu_freeze *f = list_entry(it, struct lu_freeze, link);
		if (!f->is_active && lu_ranges_overlap(f->lba, f->blocks, lba, blocks) &&
		    !has_older_overlap(lu, f))
			return f;
	}
	return NULL;
}

static void thaw_arrived(struct msg *m)
{
	struct lu_freeze *f = container_of(m, struct lu_freeze, msg);
	struct lu *lu = lu_get(f->lu);
	uint64_t lba = f->lba, blocks = f->blocks;
	pthread_mutex_lock(&lu->lock);
	list_remove(&f->link);
	f->is_active = false;
	pthread_mutex_unlock(&lu->lock);
	lu->freeze_count--;
	freeze_end(f);
	while ((f = next_to_activate(lu, lba, blocks)))
		freeze_activate(f);
	refill_post(lu);
	lu_put(lu);
}

// The medium is as t leaves it.
static void thaw(struct task *t)
{
	struct lu_freeze *f = container_of(t->hold, struct lu_freeze, hold);
	t->hold = NULL;
	f->task = NULL;
	send_home(f, thaw_arrived);
}

void lu_freeze(struct task *t, uint64_t lba, uint64_t blocks, void (*granted)(struct task *t))
{
	struct lu_freeze *f = calloc(1, sizeof *f);
	if (!f) {
		task_finish(t, STATUS_BUSY);
		return;
	}
	f->lu = lu_get(t->lu);
	f->worker = t->nexus->worker;
	f->task = t;
	f->owner = t;
	f->lba = lba;
	f->blocks = blocks;
	f->granted = granted;
	f->hold = (struct task_hold){ .release = thaw, .is_freeze = true };
	t->hold = &f->hold;
	t->state = TASK_RUNNING;
	// An older freeze may have been waiting for this task.
	lu_round_recheck(t);
	send_home(f, freeze_arrived);
}

static int attach(struct lu *lu, struct err *e)
{
	list_init(&lu->freezes);
	list_init(&lu->freeze_queue);
	return 0;
}

const struct lu_part freeze_part = { .attach = attach, .channel_init = channel_init };
