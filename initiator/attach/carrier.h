// SPDX-License-Identifier: BSD-2-Clause
// What makes a disk (initiator/disk/disk.h) local: ublk, the kernel's nbd, a file by FUSE with a
// loop device, or a socket of the NBD protocol. One row each in carriers.c; one file or folder each
// here.
//
// A carrier runs on the disk's worker, whose thread it must not block: what blocks (netlink, mount,
// ioctl of loop or ublk control) runs on the program's thread in prepare(), start() and stop().
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "initiator/disk/disk.h"

enum { CARRIER_PATH_MAX = 256 };

// What is attached.
struct carrier_config {
	const char *name;      // of the attachment: a file name
	const char *run_dir;   // for what the carrier makes
	const char *place;     // --at: the mount point, socket path or device wanted; NULL: chosen
	unsigned queues;       // of ublk and nbd; 0: chosen
	unsigned depth;	       // requests of a queue; 0: chosen
	unsigned dead_seconds; // nbd: how long the kernel waits for a process that has gone
	// Recovery: the device that an earlier process of this attachment left (its state file),
	// taken over if the carrier can; NULL: a new one.
	const char *recover;
	int recover_id; // as carrier_info.id of that process; -1: none
};

struct carrier_info {
	char device[CARRIER_PATH_MAX]; // "/dev/ublkb0", "/dev/nbd3", "/dev/loop1", "unix:/run/..."
	int id;			       // number of the kernel's device; -1: none
	bool is_block_device;
	char extra[CARRIER_PATH_MAX]; // of fuse: the file below the loop device; else empty
};

// What a carrier tells its owner. On any thread: the owner posts it to its own.
struct carrier_events {
	// The kernel or the user took the device away, or the carrier cannot go on (why->code).
	void (*ended)(void *arg, const struct err *why);
};

// What a process that has died left, by its state file.
struct carrier_left {
	const char *name;
	const char *device, *extra; // as carrier_info of that process; never NULL
	const char *identity;	    // of its disk; empty: none
	int id;
};

struct carrier; // an attached disk; each carrier embeds it

struct carrier_ops {
	const char *name; // of --via
	const char *help; // one line
	// Whether this machine has it now: 0, or negative with a text that says what to load or
	// install. Program's thread, may block; also loads a kernel module if root may.
	int (*probe)(struct err *e);
	bool is_automatic; // chosen without --via, in the order of the rows
	bool can_recover;  // a new process may take over the device of one that died
	bool needs_root;
	// Makes the device for disk d, which is ready, and returns when it can be used. Program's
	// thread, may block. On failure nothing is left.
	int (*start)(struct carrier **ret, struct disk *d, const struct carrier_config *config,
		     const struct carrier_events *events, void *arg, struct err *e);
	// Fills info; any time after start.
	void (*info)(const struct carrier *c, struct carrier_info *ret);
	// 0: nobody uses the device; -EBUSY with a text that says who (mounted at, opened by, held
	// by): a refusal of detach. Program's thread.
	int (*check_unused)(const struct carrier *c, struct err *e);
	// disk_facts() has a new capacity: tells the kernel. Program's thread. Absent: not
	// possible.
	void (*resized)(struct carrier *c);
	// Takes the device away and frees c; requests in flight are done or failed when it returns.
	// is_forced: even if it is used. Program's thread, may block, bounded (30 s). Negative with
	// a text: it is still there.
	int (*stop)(struct carrier *c, bool is_forced, struct err *e);
	// Takes away what a process that has died left; 0 also if nothing is left. -EHOSTDOWN with
	// a text: its users wait for a successor, and only is_forced fails their requests.
	// Program's thread, may block, bounded (60 s).
	int (*clear)(const struct carrier_left *left, bool is_forced, struct err *e);
};

struct carrier {
	const struct carrier_ops *ops;
};

// The rows, each of the folder of its name.
extern const struct carrier_ops carrier_ublk, carrier_nbd, carrier_fuse, carrier_socket;

// carriers.c: rows in the order of preference: ublk, nbd, fuse, socket; NULL past the last.
const struct carrier_ops *carrier_at(unsigned index);
const struct carrier_ops *carrier_find(const char *name); // NULL: unknown
// The first automatic one whose probe succeeds, of those that can recover if one must; else NULL
// with a text that names for each what to load or install. Program's thread, may block.
const struct carrier_ops *carrier_choose(bool must_recover, struct err *e);
