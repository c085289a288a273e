// SPDX-License-Identifier: BSD-2-Clause
// What a worker has of a logical unit: its tasks, its nexuses, and its copy of the state that the
// home worker owns.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"
#include "target/scsi/lu_counters.h"

struct lu;
struct pr_view; // reservations/state.c: immutable snapshot of registrations and reservation
struct taskset_walk;
struct worker;

// One worker's view of the LU. Touched by that worker only.
struct lu_channel {
	struct list tasks;    // submitted and not done, in order of arrival
	struct list frozen;   // struct lu_frozen of freeze.h; empty on the fast path
	struct pr_view *pr;   // NULL: no reservation, no registrations
	uint64_t reserved_by; // nexus id that holds RESERVE(6/10), 0 none
	struct lu_counters counters;
	struct lu *lu;
	struct worker *worker;
	struct list nexus_luns; // every nexus of this worker that maps the LU
	// taskset.c
	struct list ready;	   // nexus_luns whose oldest waiting task may run
	struct list thawed;	   // tasks that waited for blocks no longer frozen
	struct taskset_walk *walk; // under way, innermost first
	bool is_resuming;
};

// The calling worker's channel, created if needed. NULL: no memory.
struct lu_channel *lu_channel(struct lu *lu);
