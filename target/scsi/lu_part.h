// SPDX-License-Identifier: BSD-2-Clause
// What else hangs on a logical unit: the parts that keep state of their own (reservations,
// ALUA, third-party copy). lu.c, nexus.c and tmf.c walk the table in lu_part.c and know no
// part by name. NULL slots are skipped.
#pragma once

#include "target/scsi/lu.h"
#include "target/scsi/nexus.h"

struct lu_part {
	// Makes the part's state; lu is complete but for later parts, and has no channel yet.
	// Control thread; may block. On failure it leaves nothing behind.
	int (*attach)(struct lu *lu, struct err *e);
	// Frees it; the last reference to lu is gone. Control thread; may block.
	void (*detach)(struct lu *lu);
	// A worker's channel comes into being: copies what is shared into it. That worker, with
	// lu->lock held.
	void (*channel_init)(struct lu_channel *c);
	// Drops what channel_init() and the rounds since put there. Control thread, LU closing.
	void (*channel_done)(struct lu_channel *c);
	// LOGICAL UNIT RESET (SAM-5 6.3.3), before the unit attentions are raised. Home worker.
	void (*reset)(struct lu *lu);
	// I_T nexus loss (SAM-5 6.3.4): nl goes away after the call. Nexus's worker. Work for the
	// home worker takes nl->nexus->id and a reference of the LU along.
	void (*nexus_lost)(struct nexus_lun *nl);
};

// In order of attach; ends with NULL.
extern const struct lu_part *const lu_parts[];
