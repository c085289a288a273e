// SPDX-License-Identifier: BSD-2-Clause
// Private to the files that implement tasks. Task's worker.
#pragma once

#include "core/counter.h"
#include "target/scsi/lu.h"
#include "target/scsi/nexus.h"
#include "target/scsi/task.h"
#include "target/scsi/tmf.h"

// Continues with t->next, or ends an aborted task.
void task_resume(struct task *t);
// Runs next after msecs.
void task_delay(struct task *t, uint32_t msecs, void (*next)(struct task *t));
// Ends the task with the status it has.
void task_complete(struct task *t);

// Around what the backstore does for t: the time counts for the logical unit.
static inline void task_storage_begins(struct task *t)
{
	t->io_ns = worker_now(t->nexus->worker);
}

static inline void task_storage_ends(struct task *t)
{
	counter_add(&t->nl->channel->counters.storage_ns, worker_now(t->nexus->worker) - t->io_ns);
}

// task_buffers.c. Gets pool buffers for len bytes, at once or when memory is free, then calls
// task_buffers_ready() of task_data.c.
void task_buffers_start(struct task *t, uint64_t len);
void task_buffers_ready(struct task *t);
// Returns them before the task ends.
void task_buffers_drop(struct task *t);
// One more buffer of len bytes, charged to t's nexus until task_buf_put(). NULL: its share or the
// pool is used up; continue with less.
struct buf *task_buf_get(struct task *t, uint32_t len);
void task_buf_put(struct task *t, struct buf *b, uint32_t len); // NULL is fine
// Charges t's nexus for a buffer in t->sg that was got elsewhere.
void task_buf_charge(struct task *t, uint32_t len);

// True while t waits for its data-out or for memory, and none of the disk's memory is in the
// transport's hands: it has not touched the medium, and looks again whether it may before it does.
static inline bool task_has_yet_to_begin(const struct task *t)
{
	return !t->in_place && (t->state == TASK_WAITS_DATA || t->state == TASK_WAITS_BUFFERS);
}

// t has come to a state in which rounds may no longer wait for it (lu_round.awaits), or leaves its
// channel's set.
static inline void lu_round_recheck(struct task *t)
{
	if (t->awaited_by)
		lu_round_watch_next(t, false);
}

// taskset.c. Links t into its channel's set, then runs next as soon as the task attributes
// let it (SAM-5 8.4): at once or later.
void taskset_enter(struct task *t, void (*next)(struct task *t));
// t is done, but may stay linked for its memory. taskset_kick() resumes the tasks that waited for
// it.
void taskset_done(struct task *t);
// Unlinks t.
void taskset_leave(struct task *t);
// Runs next when no freeze overlaps t->lba and t->blocks.
void taskset_await_range(struct task *t, void (*next)(struct task *t));
// f is no longer among c->frozen: resumes the tasks that waited for its blocks.
void taskset_thawed(struct lu_channel *c, struct lu_frozen *f);
// Runs the tasks of c whose turn it is. The caller holds a reference to the LU.
void taskset_kick(struct lu_channel *c);
bool taskset_wants_kick(const struct lu_channel *c);
// Walks the tasks of c. The end of any task, also by what is done to the one in hand, is fine; the
// walk is to be taken to its end (NULL).
struct taskset_walk {
	struct lu_channel *channel;
	struct list *next;
	struct taskset_walk *outer; // under way in the same channel
};
void taskset_walk_begin(struct taskset_walk *w, struct lu_channel *c);
struct task *taskset_walk_next(struct taskset_walk *w);
// t was aborted while in the set.
void taskset_aborted(struct task *t);
// Aborts the tasks of c. sends_status() returns whether the initiator of a task gets TASK ABORTED;
// NULL: no.
void taskset_abort(struct lu_channel *c,
		   bool (*sends_status)(const struct task *t, const void *arg), const void *arg);
// Aborts the tasks of nl, without status, at no cost for those of others. The caller keeps nl.
void taskset_abort_nexus(struct nexus_lun *nl);
// True if an aborted task of nl is in the set: when none is any more, fn(&w->msg) runs on the
// worker.
bool taskset_await_aborts(struct nexus_lun *nl, struct aborts_wait *w, void (*fn)(struct msg *m));
// Whether an aborted task is still on its way to done(), or what the initiator sends for it may
// still land in the disk's memory.
static inline bool task_is_aborting(const struct task *t)
{
	return t->is_aborted && (t->state != TASK_DONE || t->is_landing);
}

// nexus.c: the last task of a nexus_lun that leaves its map was released.
void nexus_lun_released(struct nexus_lun *nl);

// submit.c
void submit_checks(struct task *t);
// Continues with t->next after a wait for data or memory: the medium may have been removed
// meanwhile, or the blocks may be frozen.
void submit_again(struct task *t);
