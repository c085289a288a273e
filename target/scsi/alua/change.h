// SPDX-License-Identifier: BSD-2-Clause
// Changes of access states, one after the other at the LU's home worker.
#pragma once

#include "core/offload.h"
#include "target/scsi/alua/access.h"
#include "target/scsi/home_queue.h"

#define ALUA_KEEP 0xff

// A change of states, of one group or several. Embedded in its owner.
struct alua_change {
	struct home_change home;	 // its lu with a reference
	uint8_t states[ALUA_GROUPS_MAX]; // new state by slot, or ALUA_KEEP
	uint32_t ids[ALUA_GROUPS_MAX];	 // the former group of the slot
	bool is_explicit;		 // by SET TARGET PORT GROUPS
	bool only_writes;		 // no change of state: only the saved states change
	const struct nexus *except;	 // requested it and needs no unit attention
	int result;			 // 0, or -EIO: in force, but not written to the file
	struct timer timer;
	struct offload offload;
	char *text;
	size_t text_len;
};

// An empty change for lu; ended runs on the home worker.
void alua_change_init(struct alua_change *c, struct lu *lu, void (*ended)(struct home_change *c));
// Starts it after the earlier ones. Home worker; the memory must stay valid until ended.
void alua_change_start(struct alua_change *c);
