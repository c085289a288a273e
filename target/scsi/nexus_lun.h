// SPDX-License-Identifier: BSD-2-Clause
// I_T_L nexus (SAM-5 4.8): the state of a nexus for one logical unit of its LUN map.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"
#include "target/scsi/ua.h"

struct lu;
struct lu_channel;
struct nexus;

// Nexus's worker.
struct nexus_lun {
	struct lu *lu;		    // reference held
	struct lu_channel *channel; // of this worker
	ua_mask ua;		    // pending unit attentions
	uint32_t inflight;	    // tasks submitted and not done
	uint32_t begun;		    // of these: those that older ones do not hold up (SAM-5 8.6)
	bool is_ordering;	    // one of begun is ORDERED: SIMPLE tasks wait
	uint32_t held;		    // tasks submitted and not released, and others that need it
	uint16_t number;
	uint16_t alua_group;
	bool is_write_protected;
	bool prevents_removal; // PREVENT ALLOW MEDIUM REMOVAL
	bool has_accessed;     // a command has read, written or verified the medium
	uint8_t pr_standing;
	uint64_t pr_version; // reservations/rules.c: the reservation table of pr_standing
	struct nexus *nexus;
	struct lun_leave *leave;   // the change of map that removes it, or NULL
	struct list channel_link;  // in channel->nexus_luns
	struct list open;	   // tasks in the set that are neither done nor aborted
	struct list aborting;	   // aborted ones that are still in the set
	struct list abort_waiters; // struct aborts_wait: for the end of aborting
	struct list turn_waiters;  // tasks that wait for older ones, in order of arrival
	struct list ready_link;	   // in channel->ready
};

// A change of map that waits for the tasks of removed LUNs. nexus.c
struct lun_leave {
	void (*released)(struct nexus_lun *nl); // nothing holds nl any more
	unsigned waiting;
	void (*finished)(void *arg);
	void *arg;
};

// Ends one hold. Nexus's worker.
static inline void nexus_lun_put(struct nexus_lun *nl)
{
	if (--nl->held == 0 && nl->leave)
		nl->leave->released(nl);
}

// Whether the nexus uses the logical unit: it has accessed the medium, is registered or holds a
// reservation, or prevents removal. Seeing it is not use. Nexus's worker.
bool nexus_lun_is_used(struct nexus_lun *nl);

// Ends what the nexus holds of the logical unit against others: RESERVE (SPC-2 5.5.1), prevention
// of medium removal. Nexus's worker.
void nexus_lun_leave(struct nexus_lun *nl);

// Ends the nexus's prevention of medium removal; nexus's worker.
void nexus_lun_allow_removal(struct nexus_lun *nl);
