// SPDX-License-Identifier: BSD-2-Clause
// What logical units and tasks need of the command set above them: a table that lu_new() gets. The
// parts of a logical unit are what has separate state (reservations, ALUA, third-party copy); lu.c,
// nexus.c and tmf.c walk them and do not name any. NULL slots of a part are skipped.
#pragma once

#include "target/scsi/lu_state.h"

struct lu_channel;
struct nexus_lun;
struct opcode_row;
struct task;

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
	// The nexus has logged out and has no task left: what others must not meet any more is over
	// when this returns. nexus_lost() follows. Nexus's worker.
	void (*nexus_leaves)(struct nexus_lun *nl);
	// Whether the nexus uses the part: a logical unit in use is not deleted. Nexus's worker;
	// not for the I/O path.
	bool (*is_used)(struct nexus_lun *nl);
};

extern const struct lu_part freeze_part; // freeze.c
extern const struct lu_part ending_part; // ending.c

// All slots are required. Constant.
struct device_server {
	const struct lu_part *const *parts; // in order of attach; ends with NULL
	const struct opcode_row *rows;	    // of server/dispatch.h
	// task_submit(), for the internal tasks of a copy manager.
	void (*submit)(struct task *t);
	// Revokes the ROD tokens of [lba, lba + blocks), of which lu has some. Any worker.
	void (*revoke_tokens)(struct lu *lu, uint64_t lba, uint64_t blocks);
};

// [lba, lba + blocks) is about to change. Every write must call it when the blocks are known and
// before it waits for a frozen range. Any worker.
static inline void lu_note_write(struct lu *lu, uint64_t lba, uint64_t blocks)
{
	if (__builtin_expect(__atomic_load_n(&lu->rod_tokens, __ATOMIC_RELAXED), 0))
		lu->server->revoke_tokens(lu, lba, blocks);
}
