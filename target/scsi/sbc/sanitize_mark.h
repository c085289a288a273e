// SPDX-License-Identifier: BSD-2-Clause
// A state file that marks an unfinished SANITIZE: if the program ends meanwhile, the unit starts in
// failure mode and does not expose blocks that were to be erased (SBC-4 4.11).
#pragma once

#include "core/offload.h"
#include "target/scsi/lu_part.h"

struct lu;

// A change of the mark. The offload pool owns its memory until done runs.
struct sanitize_mark {
	struct offload offload; // private
	struct lu *lu;
	bool is_set, ause; // the new state
	int result;	   // result of the change: 0 or negative errno
	void (*done)(struct sanitize_mark *m);
};

// Writes or removes the mark durably; then done runs, at once if no mark is needed. Home worker,
// also for done. The caller holds a reference of the unit.
void sanitize_mark(struct sanitize_mark *m);

// Puts a new unit into failure mode if its mark exists.
extern const struct lu_part sanitize_part;
