// SPDX-License-Identifier: BSD-2-Clause
// Rounds: one piece of work on every worker that has a channel of a logical unit. What all workers
// must know of is complete when its round is.
#pragma once

#include "target/scsi/task.h"

struct lu;
struct lu_channel;
struct lu_round;

struct lu_round_ops {
	// Runs on every worker that has a channel. NULL: nothing to do there.
	void (*each)(struct lu_channel *c, struct lu_round *r);
	// Whether the round waits for t, a task of the channel's set. Asked after each(), on the
	// channel's worker, of one task after the other, and again of the one it waits for when
	// that changes. A task that comes or begins later has looked at what each() has done, so
	// that the round need not wait for it. NULL: for none.
	bool (*awaits)(const struct lu_round *r, const struct task *t);
	// Runs on the worker that started the round; the owner has the memory back.
	void (*done)(struct lu_round *r);
};

// Private.
struct lu_round_slot {
	struct msg msg;
	struct lu_round *round;
	struct lu_channel *channel;
	struct lu_round_slot *next; // in the blocker's awaited_by
	struct timer limit;	    // armed while there is a blocker
	unsigned looks;		    // how often it has passed
	bool is_telling;	    // armed to look for one more
};
struct lu_round {
	const struct lu_round_ops *ops;
	struct lu_round_slot slots[WORKER_MAX], own;
	struct lu *lu;
	struct worker *home;
	unsigned pending; // atomic
};
// Starts r, whose memory lives until done, which may run before this returns. Data worker. The
// calling worker's own channel is served at once.
//
// A channel may come into being meanwhile: it copies the shared state under lu->lock. So
// change that state under lu->lock first, then start the round; each() may then find the
// change made already and must not mind.
//
// What a round waits for may be memory that a transport reads from or writes to, and so up to a
// peer. That has a limit, however the peer trickles.
void lu_round_start(struct lu_round *r, struct lu *lu, const struct lu_round_ops *ops);
// How long a round waits for data that transports are moving. Then the nexuses of those tasks are
// called (nexus_ops.overdue). A variable for tests.
extern uint32_t lu_round_limit_ms;
// For a task with awaited_by that changes: rounds that need not wait for it any longer continue,
// but not before this function has returned to the worker's loop.
void lu_round_watch_next(struct task *t, bool is_leaving);
// The same for a task that may have come to such a state; it stays in its channel's set.
static inline void lu_round_recheck(struct task *t)
{
	if (t->awaited_by)
		lu_round_watch_next(t, false);
}
