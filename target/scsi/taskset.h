// SPDX-License-Identifier: BSD-2-Clause
// Task set of one channel: the order of tasks (SAM-5 8), and the tasks that wait for their turn or
// for blocks. It keeps lists and runs nothing. Worker of the channel.
#pragma once

#include "target/scsi/freeze.h"
#include "target/scsi/lu_channel.h"
#include "target/scsi/task.h"

// Links t into its channel's set. Returns whether the task attributes permit it to run now (SAM-5
// 8.4); else next runs later.
bool taskset_enter(struct task *t, void (*next)(struct task *t));
// The blocks of t are known: t->lba and t->blocks. Returns whether no other task has frozen any of
// them; else next runs when that is over.
bool taskset_enter_range(struct task *t, void (*next)(struct task *t));
// t is done, but may stay linked for its memory. taskset_next() then returns tasks that waited for
// it.
void taskset_done(struct task *t);
// Unlinks t.
void taskset_leave(struct task *t);

// f is no longer among c->frozen: taskset_next() returns the tasks that waited for its blocks.
void taskset_thawed(struct lu_channel *c, struct lu_frozen *f);
// The next task of c whose turn has come, which no longer waits; NULL: none.
struct task *taskset_next(struct lu_channel *c);
// Whether taskset_next() may return one.
static inline bool taskset_has_next(const struct lu_channel *c)
{
	return !list_empty(&c->ready) || !list_empty(&c->thawed);
}

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
// Waits for the end of the aborted tasks of one nexus.
struct aborts_wait {
	struct list link;
	struct msg msg;
};
// True if an aborted task of nl is in the set: when none is any more, fn(&w->msg) runs on the
// worker.
bool taskset_await_aborts(struct nexus_lun *nl, struct aborts_wait *w, void (*fn)(struct msg *m));
// Whether an aborted task is still on its way to done(), or what the initiator sends for it may
// still land in the disk's memory.
static inline bool task_is_aborting(const struct task *t)
{
	return t->is_aborted && (t->state != TASK_DONE || t->is_landing);
}

// True while t waits for its peer or for memory, and none of the disk's memory is in the
// transport's hands: it does not touch the medium, and looks again whether it may before it does.
static inline bool task_has_yet_to_begin(const struct task *t)
{
	return !t->in_place && (t->state == TASK_WAITS_DATA || t->state == TASK_WAITS_SENT ||
				t->state == TASK_WAITS_BUFFERS);
}
