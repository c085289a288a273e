// SPDX-License-Identifier: BSD-2-Clause
// The state of reservations at the home worker, and the queue of its changes.
#pragma once

#include "target/scsi/lu_round.h"
#include "target/scsi/reservations/table.h"

// A change of state at the home worker. Embedded in its owner.
struct pr_op {
	struct list link;
	struct lu *lu;
	void (*run)(struct pr_op *op);	 // called on its turn; must call pr_op_end()
	void (*ended)(struct pr_op *op); // the owner gets the memory back
	bool is_started;
	struct lu_round round;
};

struct pr_state {
	struct pr_view *view; // changed under lu->lock
	uint64_t reserved_by; // RESERVE(6/10): nexus id; changed under lu->lock
	struct list queue;    // struct pr_op, the first one runs. Home worker
	bool is_draining;
	// A reservation by RESERVE that ends with its nexus or a reset.
	uint64_t lost;		  // the nexus's id, PR_LOST_ANY on reset, 0 none; atomic
	bool is_posted;		  // release_msg is in flight; atomic
	struct msg release_msg;	  // to the home worker
	struct pr_op release;	  // home worker
	bool is_releasing, again; // it is queued; and again after that
	struct lu *lu;
};
#define PR_LOST_ANY UINT64_MAX

// Whether a RESERVE is in force. A channel may be out of date: the end of a nexus reaches the
// workers by messages.
static inline bool pr_is_reserved(const struct pr_state *st)
{
	uint64_t by = __atomic_load_n(&st->reserved_by, __ATOMIC_ACQUIRE);
	return by && by != __atomic_load_n(&st->lost, __ATOMIC_ACQUIRE);
}

// Queues op; lu, run and ended are set. Home worker, with a reference to lu held till ended.
void pr_op_start(struct pr_op *op);
void pr_op_end(struct pr_op *op);
// Applies reserved_by on all channels, then ends op. Home worker.
void pr_publish_reserved(struct pr_op *op, uint64_t nexus_id);

// The current table; the caller gets a reference. Any thread.
struct pr_view *pr_view_of(struct lu *lu);
