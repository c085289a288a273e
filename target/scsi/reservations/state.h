// SPDX-License-Identifier: BSD-2-Clause
// The state of reservations at the home worker, and the queue of its changes.
#pragma once

#include "target/scsi/home_queue.h"
#include "target/scsi/lu_round.h"
#include "target/scsi/reservations/table.h"

// A change of state, and the round that shows it. Embedded in its owner.
struct pr_op {
	struct home_change home;
	struct lu_round round;
};

struct pr_state {
	struct pr_view *view;	 // changed under lu->lock
	uint64_t reserved_by;	 // RESERVE(6/10): nexus id; changed under lu->lock
	struct home_queue queue; // of struct pr_op. Home worker
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

// Applies reserved_by on all channels, then ends op. Home worker.
void pr_publish_reserved(struct pr_op *op, uint64_t nexus_id);

// The current table; the caller gets a reference. Any thread.
struct pr_view *pr_view_of(struct lu *lu);
