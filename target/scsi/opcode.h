// SPDX-License-Identifier: BSD-2-Clause
// The command set as rows: name and length of a command, its reservation and ALUA class, and its
// handler. REPORT SUPPORTED OPERATION CODES is printed from the same rows (SPC-5 6.35).
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct lu;
struct task;

// Reservation class (SPC-5 table 12 and SBC-4 table 13): the effect of a conflicting persistent
// reservation, or of a RESERVE by another nexus, on the command.
enum pr_class {
	PR_ALWAYS,  // allowed under any reservation
	PR_READ,    // allowed for write-exclusive types
	PR_WRITE,   // needs registration or the reservation
	PR_SPECIAL, // the handler decides (PERSISTENT RESERVE OUT, RESERVE, RELEASE ...)
};

// ALUA class (SPC-5 5.15.2): in which access states the command works.
enum alua_class {
	ALUA_ALWAYS,  // also in standby, unavailable and transitioning
	ALUA_STANDBY, // also in standby
	ALUA_ACTIVE,  // in active states only
};

enum {
	OP_DATA_IN = 1,
	OP_DATA_OUT = 2,
	OP_WRITES = 4,	    // changes the medium: refused on a read-only disk and under SWP
	OP_MEDIUM = 8,	    // needs a medium: refused while ejected or under SANITIZE
	OP_IGNORES_UA = 16, // runs without reporting a pending unit attention
	OP_NO_LU = 32,	    // also runs for a LUN that does not exist
	OP_RANGE = 64,	    // task->lba/blocks are decoded and checked beforehand (sbc/lba.h)
	OP_DPO = 128,	    // CDB byte 1 bit 4 is DPO, accepted if DPOFUA is advertised
	OP_FUA = 256,	    // ... bit 3 is FUA, likewise; task->fua
	OP_PROTECT = 512,   // ... bits 7-5 are RD/WR/VRPROTECT: must be zero, PROTECT is 0
	OP_TO_END = 1024,   // 0 blocks mean to the end of the medium
	OP_LOCAL = 2048,    // handled here for pass-through backstores too
	// Runs on a write-protected path, as it changes nothing for another nexus. Commands without
	// it end with WRITE PROTECTED there: reservations, mode pages, the medium's position and
	// access states are shared.
	OP_HARMLESS = 4096,
	OP_UNMAP = 8192, // CDB byte 1 bit 3 is UNMAP, accepted if LBPWS is advertised
};

#define CDB_MAX 16

struct opcode_row {
	uint8_t opcode;
	bool has_sa;
	uint16_t sa;
	uint8_t cdb_len;
	uint8_t pr;   // enum pr_class
	uint8_t alua; // enum alua_class
	uint16_t flags;
	void (*run)(struct task *t);
	// False: this logical unit, with its current settings, does not support the command. NULL:
	// always available.
	bool (*is_available)(const struct lu *lu);
	const char *name;
	uint8_t usage[CDB_MAX]; // CDB usage bits; byte 0 is the opcode
};

// Whether lu, with its current settings, supports the command of row.
static inline bool opcode_is_available(const struct opcode_row *row, const struct lu *lu)
{
	return !row->is_available || row->is_available(lu);
}
