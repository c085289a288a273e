// SPDX-License-Identifier: BSD-2-Clause
// I_T nexus and its state for each logical unit (SAM-5 4.8). The worker of its connection owns a
// nexus; changing its LUN map is one call on that worker.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/list.h"
#include "target/scsi/lu.h"
#include "target/scsi/lun_map.h"
#include "target/scsi/ua.h"

struct lu;
struct lu_channel;
struct nexus;
struct task;
struct worker;

// State of one nexus for one logical unit. Nexus's worker.
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

enum scsi_protocol { SCSI_PROTOCOL_SRP = 4, SCSI_PROTOCOL_ISCSI = 5 };

// Properties of the nexus, from the protocol; strings are copied.
struct nexus_info {
	enum scsi_protocol protocol;
	const char *initiator_port;	// SCSI initiator port name: "iqn...,i,0x000000000000"
	const char *initiator_name;	// device name, for messages and TransportIDs: "iqn..."
	const char *target_name;	// target device name: "iqn..."
	const char *target_port;	// target port name: "iqn...,t,0x0001"
	uint16_t relative_port;		// RELATIVE TARGET PORT IDENTIFIER, unique in this process
	uint8_t transport_id[64 + 256]; // SPC-5 7.6.4 TransportID of the initiator port
	uint32_t transport_id_len;
	// Its data moves through buffers, also to and from a RAM disk: it has kept others waiting
	// for memory that its transport was moving.
	bool is_buffered;
};

struct nexus_ops {
	// A unit attention (above all REPORTED LUNS DATA HAS CHANGED) became pending: the protocol
	// may send an asynchronous event (iSCSI Async Message event 0). May be NULL: no-op.
	void (*notice)(struct nexus *n, uint16_t lun, uint32_t sense_code);
	// Other nexuses have waited too long for memory of a disk that n's transport still uses:
	// the protocol must end the session. Called once. May be NULL.
	void (*overdue)(struct nexus *n, uint32_t seconds);
};

struct nexus {
	struct worker *worker;
	const struct nexus_ops *ops;
	void *owner;		// the protocol's session
	struct nexus_info info; // strings owned by the nexus
	struct lun_map *map;
	struct nexus_lun **luns; // by LUN number; lun_limit slots, NULL where unmapped
	uint32_t lun_limit;
	bool luns_changed; // REPORTED LUNS DATA HAS CHANGED not yet reported
	bool is_overdue;   // ops->overdue() was called
	uint64_t id;	   // unique in this process, never reused
	// Bytes of the worker's buffers that its tasks hold, and their number; the tasks that wait
	// for buffers, and their common wait.
	uint64_t pool_used, pool_limit;
	struct list pool_waiters;
	struct buf_wait pool_wait;
	// Running copies, and commands that wait to start one (copy/turn.c).
	unsigned copies;
	struct list copy_waiters;
	bool is_turning_copies;
	// Statistics of its commands, and payload copies of the device server. Plain words: read on
	// the worker.
	struct lu_counters counters;
	struct buf_copies copied;
};

// Creates the nexus on the calling worker, with a unit attention for every LUN of map: POWER ON,
// RESET, OR BUS DEVICE RESET (29/00) or, if its ports were told that before, I_T NEXUS LOSS (29/07;
// power_on.h). -ENOMEM.
int nexus_new(struct nexus **ret, const struct nexus_info *info, const struct nexus_ops *ops,
	      void *owner, struct lun_map *map);

// The initiator has logged out and no task is left: what others must not meet any more is over
// when this returns: RESERVE (SPC-2 5.5.1), PREVENT ALLOW MEDIUM REMOVAL (SPC-4 6.15). nexus_free()
// follows.
void nexus_leave(struct nexus *n);

// Ends the nexus (SAM-5 6.3.4), which has no task left, and its RESERVE reservations.
void nexus_free(struct nexus *n);

// Replaces the map. Aborts tasks on removed LUNs first; when they are done, finished(arg) runs on
// the worker (at once without such tasks). Raises 3F/0E on the other LUNs, unless the peer sees no
// change.
void nexus_set_map(struct nexus *n, struct lun_map *map, void (*finished)(void *arg), void *arg);

// Whether it holds no buffer while one of its tasks waits for one.
bool nexus_is_starved(const struct nexus *n);

// Whether the nexus uses the logical unit: it has accessed the medium, is registered or holds a
// reservation, or prevents removal. Seeing it is not use. Nexus's worker.
bool nexus_lun_is_used(struct nexus_lun *nl);

// Ends the nexus's prevention of medium removal; nexus's worker.
void nexus_lun_allow_removal(struct nexus_lun *nl);

static inline struct nexus_lun *nexus_find_lun(const struct nexus *n, uint64_t number)
{
	return number < n->lun_limit ? n->luns[number] : 0;
}
