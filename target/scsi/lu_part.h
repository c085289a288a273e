// SPDX-License-Identifier: BSD-2-Clause
// The parts of a logical unit with separate state (reservations, ALUA, third-party copy). lu.c,
// nexus.c and tmf.c walk the table in lu_part.c and do not name any part. NULL slots are skipped.
#pragma once

#include "target/scsi/lu.h"
#include "target/scsi/nexus.h"

struct lu_part {
	// Creates the part's state; lu is complete except for later parts, and has no channel yet.
	// Control thread; may block. On failure it has released everything.
	int (*attach)(struct lu *lu, struct err *e);
	// Frees it; lu has no references left. Control thread; may block.
	void (*detach)(struct lu *lu);
	// Initialises a worker's new channel with the shared state. That worker, with lu->lock
	// held.
	void (*channel_init)(struct lu_channel *c);
	// Drops the state that channel_init() and later rounds stored. Control thread, LU closing.
	void (*channel_done)(struct lu_channel *c);
	// LOGICAL UNIT RESET (SAM-5 6.3.3), before the unit attentions are raised. Home worker.
	void (*reset)(struct lu *lu);
	// I_T nexus loss (SAM-5 6.3.4): nl is freed after the call. Nexus's worker. Messages to the
	// home worker carry nl->nexus->id and a reference of the LU.
	void (*nexus_lost)(struct nexus_lun *nl);
};

// In order of attach; ends with NULL.
extern const struct lu_part *const lu_parts[];
