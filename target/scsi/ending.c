// SPDX-License-Identifier: BSD-2-Clause
// Writes of ended nexuses that are still in the storage, see ending.h. An initiator that has lost a
// path may write the same blocks by another one before it knows what became of the old write: the
// older data must not come last.
//
// The ranges of one nexus at one logical unit stand together in each channel's list of frozen
// ranges, where server/submit.c looks, until the last of the writes is over. No other write waits
// as long as no nexus is ending. What other nexuses had begun before is not stopped.
#include "target/scsi/ending.h"

#include <stdlib.h>

#include "target/scsi/freeze.h"
#include "target/scsi/lu.h"
#include "target/scsi/lu_part.h"
#include "target/scsi/lu_round.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/opcode.h"
#include "target/scsi/task_priv.h"
#include "target/scsi/taskset.h"

struct ending_range {
	struct task_hold hold;
	struct ending *of;
	uint64_t lba, blocks;
};

struct ending {
	struct list link; // in lu->endings; under lu->lock
	struct lu *lu;	  // reference held
	struct lu_round round;
	unsigned count, left;	  // ranges; those whose task is not over. Nexus's worker
	bool is_known;		  // to all channels
	struct lu_frozen *frozen; // count for each worker
	struct ending_range ranges[];
};

// ---- channels ----

static struct lu_frozen *frozen_at(const struct ending *e, const struct lu_channel *c)
{
	return e->frozen + (size_t)worker_index(c->worker) * e->count;
}

static void channel_add(struct lu_channel *c, const struct ending *e)
{
	struct lu_frozen *z = frozen_at(e, c);
	for (unsigned i = 0; i < e->count; i++, z++) {
		if (list_linked(&z->link))
			continue; // the channel is new and took it from lu->endings
		z->lba = e->ranges[i].lba;
		z->blocks = e->ranges[i].blocks;
		z->is_for_writes = true;
		list_push_back(&c->frozen, &z->link);
	}
}

static void channel_init(struct lu_channel *c)
{
	list_for_each (it, &c->lu->endings)
		channel_add(c, list_entry(it, struct ending, link));
}

// ---- the end ----

static void leave_each(struct lu_channel *c, struct lu_round *r)
{
	const struct ending *e = container_of(r, struct ending, round);
	struct lu_frozen *z = frozen_at(e, c);
	for (unsigned i = 0; i < e->count; i++, z++)
		list_remove(&z->link);
	z = frozen_at(e, c);
	for (unsigned i = 0; i < e->count; i++, z++)
		taskset_thawed(c, z);
	task_resume_waiting(c);
}

static void ending_free(struct ending *e)
{
	struct lu *lu = e->lu;
	free(e->frozen);
	free(e);
	lu_put(lu);
}

static void left(struct lu_round *r)
{
	ending_free(container_of(r, struct ending, round));
}

static const struct lu_round_ops leave_ops = { .each = leave_each, .done = left };

static void end_if_over(struct ending *e)
{
	if (e->left || !e->is_known)
		return;
	pthread_mutex_lock(&e->lu->lock);
	list_remove(&e->link);
	pthread_mutex_unlock(&e->lu->lock);
	lu_round_start(&e->round, e->lu, &leave_ops);
}

// What a transport has begun to move may land in the disk's own memory until task_release().
static void write_over(struct task *t)
{
	struct ending *e = container_of(t->hold, struct ending_range, hold)->of;
	if (t->in_place && t->is_aborted && t->state != TASK_DONE)
		return;
	t->hold = NULL;
	__atomic_sub_fetch(&e->lu->ended_writes, 1, __ATOMIC_RELAXED);
	e->left--;
	end_if_over(e);
}

// ---- the begin ----

static void enter_each(struct lu_channel *c, struct lu_round *r)
{
	channel_add(c, container_of(r, struct ending, round));
}

static void entered(struct lu_round *r)
{
	struct ending *e = container_of(r, struct ending, round);
	e->is_known = true;
	end_if_over(e);
}

static const struct lu_round_ops enter_ops = { .each = enter_each, .done = entered };

// A task with a hold has frozen its range for all, or will not begin any more.
static bool is_in_storage(const struct task *t)
{
	if (!t->row || !(t->row->flags & OP_WRITES) || !t->blocks || t->hold)
		return false;
	return t->state == TASK_RUNNING ||
	       (t->in_place && (t->state == TASK_WAITS_DATA || t->is_landing));
}

static unsigned count_in_storage(const struct list *tasks)
{
	unsigned n = 0;
	list_for_each (it, tasks)
		n += is_in_storage(list_entry(it, struct task, nl_link));
	return n;
}

static void take(struct ending *e, const struct list *tasks)
{
	list_for_each (it, tasks) {
		struct task *t = list_entry(it, struct task, nl_link);
		if (!is_in_storage(t))
			continue;
		struct ending_range *r = &e->ranges[e->left++];
		r->of = e;
		r->lba = t->lba;
		r->blocks = t->blocks;
		r->hold.release = write_over;
		t->hold = &r->hold;
	}
}

static struct ending *ending_new(struct lu *lu, unsigned count)
{
	struct ending *e = calloc(1, sizeof *e + count * sizeof e->ranges[0]);
	size_t all = (size_t)count * worker_count();
	if (e)
		e->frozen = calloc(all, sizeof *e->frozen);
	if (!e || !e->frozen) {
		free(e);
		return NULL;
	}
	for (size_t i = 0; i < all; i++)
		list_init(&e->frozen[i].waiters);
	e->lu = lu_get(lu);
	e->count = count;
	return e;
}

static void begin(struct nexus_lun *nl)
{
	struct lu *lu = nl->lu;
	unsigned count = count_in_storage(&nl->open) + count_in_storage(&nl->aborting);
	struct ending *e = count ? ending_new(lu, count) : NULL;
	if (!e) // without memory the others do not wait
		return;
	take(e, &nl->open);
	take(e, &nl->aborting);
	__atomic_add_fetch(&lu->ended_writes, count, __ATOMIC_RELAXED);
	pthread_mutex_lock(&lu->lock);
	list_push_back(&lu->endings, &e->link);
	pthread_mutex_unlock(&lu->lock);
	lu_round_start(&e->round, lu, &enter_ops);
}

void nexus_begin_end(struct nexus *n)
{
	for (uint32_t i = 0; n && i < n->lun_limit; i++)
		if (n->luns[i])
			begin(n->luns[i]);
}

static int attach(struct lu *lu, struct err *e)
{
	list_init(&lu->endings);
	return 0;
}

const struct lu_part ending_part = { .attach = attach, .channel_init = channel_init };
