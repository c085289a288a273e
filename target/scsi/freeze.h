// SPDX-License-Identifier: BSD-2-Clause
// Frozen ranges: blocks that one task holds against all others (SBC-3 5.2).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"

struct task;

// A range of blocks that tasks must not touch while a COMPARE AND WRITE or the like owns it.
struct lu_frozen {
	struct list link;
	struct list waiters; // tasks that wait for it; each looks for another one afterwards
	uint64_t lba, blocks;
	const struct task *owner; // it passes
	bool is_for_writes;	  // of ending.c: commands that change nothing pass
};

// Freezes [lba, lba + blocks) for t on every channel and waits until no task in flight there
// overlaps; granted runs on t's worker, possibly at once. Ranges that overlap wait for each
// other, FIFO. Tasks that come later and overlap wait (TASK_WAITS_TURN) until t has ended.
// Between the call and granted t must not touch the medium. A task aborted meanwhile ends
// instead of being granted; without memory it ends with BUSY. Task's worker; one at a time.
void lu_freeze(struct task *t, uint64_t lba, uint64_t blocks, void (*granted)(struct task *t));

static inline bool lu_ranges_overlap(uint64_t a, uint64_t na, uint64_t b, uint64_t nb)
{
	return na && nb && (a < b ? b - a < na : a - b < nb);
}
