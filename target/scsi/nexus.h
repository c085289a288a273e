// SPDX-License-Identifier: BSD-2-Clause
// I_T nexus (SAM-5 4.8): an initiator port at a target port. The worker of its connection owns a
// nexus; changing its LUN map is one call on that worker. nexus_lun.h has its logical units.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/list.h"
#include "target/scsi/lu_counters.h"

struct lun_map;
struct nexus;
struct nexus_lun; // nexus_lun.h
struct nexus_ops; // nexus_ops.h
struct worker;

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
	uint32_t unsolicited; // limit of the data-out of a command that comes without get_data
	// Its data moves through buffers, also to and from a RAM disk: it has kept others waiting
	// for memory that its transport was moving.
	bool is_buffered;
};

struct nexus {
	struct worker *worker;
	const struct nexus_ops *ops;
	void *owner;		// the protocol's session
	struct nexus_info info; // strings owned by the nexus
	struct lun_map *map;
	struct nexus_lun **luns; // by LUN number; lun_limit slots, NULL where unmapped
	// By LUN number: the disk that the initiator knows there since its login (lu_set_disk());
	// 0: none yet. Another one does not appear there.
	uint64_t *disks;
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
//
// A command never reaches another disk than the one that the initiator knew under its LUN number:
// a number whose disk changes, at once or after it was missing, answers LOGICAL UNIT NOT SUPPORTED
// (25/00) and is not reported until the initiator logs in again. To end the session would not do:
// Linux logs in again by itself and repeats its commands there. ESXi takes 25/00 for a permanent
// loss, and Linux does not repeat the command. A missing disk is not ready meanwhile
// (lu_set_absent()); the known one appears again, another one does not.
void nexus_set_map(struct nexus *n, struct lun_map *map, void (*finished)(void *arg), void *arg);

// How many LUNs of its map do not appear since their numbers were those of other disks.
unsigned nexus_withheld(const struct nexus *n);

// Whether it holds no buffer while one of its tasks waits for one.
bool nexus_is_starved(const struct nexus *n);

static inline struct nexus_lun *nexus_find_lun(const struct nexus *n, uint64_t number)
{
	return number < n->lun_limit ? n->luns[number] : 0;
}
