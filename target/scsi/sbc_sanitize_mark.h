// SPDX-License-Identifier: BSD-2-Clause
// A SANITIZE that was begun and has not ended, as a state file: whatever ends the program before,
// the unit comes back in failure mode and shows nobody blocks that were to be gone (SBC-4 4.11).
#pragma once

#include "core/offload.h"

struct lu;

// One change of the mark. Its memory belongs to the offload pool until done runs.
struct sanitize_mark {
	struct offload offload; // private
	struct lu *lu;
	bool is_set, ause; // what it becomes
	int result;	   // of the change: 0 or negative errno
	void (*done)(struct sanitize_mark *m);
};

// Whether the unit's data outlives the program, so that there is something to remember.
bool sanitize_mark_is_kept(const struct lu *lu);

// Writes or removes the mark durably; done runs then, at once where none is kept. Home worker,
// also for done. The caller holds a reference of the unit.
void sanitize_mark(struct sanitize_mark *m);

// Puts the unit in failure mode if its mark is there. Blocks; in lu_new() only.
void sanitize_mark_load(struct lu *lu);
