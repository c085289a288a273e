// SPDX-License-Identifier: BSD-2-Clause
// A disk: a logical unit reached by one or several sessions (its paths), over any protocols, as a
// range of bytes that is read, written, flushed and unmapped. It selects a path for each command,
// retries what is safe to retry on another one, queues while no path is up, and never takes another
// unit, or one that has lost acknowledged data, for the one it was opened on. A write that a lost
// path may still execute is neither repeated nor overtaken by a newer write of the same blocks
// before the target cannot execute it any more (fence.c).
//
// A disk belongs to one worker. Unless noted otherwise, functions are called on that worker's
// thread, do not block, and report by callback on the same thread, never from inside the call.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "initiator/scsi.h"

struct disk;

enum {
	DISK_PATHS_MAX = 16,
	DISK_NAME_TEXT = 160,
	DISK_IDENTITY_TEXT = 80,
};
#define DISK_QUEUE_FOREVER UINT32_MAX
#define DISK_FENCE_NEVER   UINT32_MAX

// ---- configuration ----

// How a path logs in. open and config as for scsi_open_fn; config is copied by open, at once for a
// path of disk_new(). Sessions of a disk retry for ever (a replacement timeout of the protocol's
// configuration ends the path, which is opened again).
struct disk_path_config {
	scsi_open_fn *open;
	const void *config;
	size_t config_size; // bytes; kept by the disk, wiped when it is freed
	uint16_t lun;
	char name[DISK_NAME_TEXT]; // of messages: "iser://192.0.2.1/iqn.x/0"
};

// Among the usable paths of the best ALUA state.
enum disk_policy {
	DISK_SERVICE_TIME, // the least bytes in flight for the path's throughput
	DISK_QUEUE_DEPTH,  // the fewest commands in flight
	DISK_ROUND_ROBIN,
};

struct disk_config {
	const struct disk_path_config *paths;
	unsigned path_count;
	enum disk_policy policy;
	uint32_t no_path_retry; // seconds to queue while no path is up; then commands fail
	// Seconds until writes go on although a target cannot say that those of a lost path have
	// ended; 0: what is known of the target, else 60. DISK_FENCE_NEVER.
	uint32_t fence_wait;
	bool is_read_only;    // refuses what writes
	bool allows_replaced; // continues on a unit that was replaced or restarted
};

// ---- what it is ----

struct disk_facts {
	uint64_t blocks;
	uint32_t block_size;	      // bytes, a power of two from 512 to 64 KiB
	uint32_t physical_block_size; // bytes, >= block_size
	uint32_t transfer_max;	      // bytes of a command; longer requests are split by the disk
	uint32_t transfer_optimal;    // bytes; 0: not reported
	uint64_t unmap_max;	      // bytes of a request; 0: it cannot unmap
	uint32_t unmap_granularity;   // bytes; 0: not reported
	uint64_t zeroes_max;	      // bytes of a DISK_WRITE_ZEROES; 0: not supported
	bool has_write_cache;	      // volatile: flushes are needed
	bool has_fua;
	bool is_thin, is_rotational;
	bool reads_zeroes; // of a thin disk: what is not mapped reads as zeroes (LBPRZ)
	bool zeroes_fast;  // DISK_WRITE_ZEROES unmaps, except with may_not_unmap
	bool is_read_only; // write-protected, or by configuration
	char vendor[9], product[17], revision[5]; // without trailing spaces
	char serial[129];
	// "naa.6001405...", of the designator that scsi_id(8) would choose; empty: the unit reports
	// none.
	char identity[DISK_IDENTITY_TEXT];
};

// ---- events ----

enum disk_path_state {
	DISK_PATH_CONNECTING, // logs in, or again after a loss
	DISK_PATH_CHECKING,   // identity, capacity, ALUA state, reservation
	DISK_PATH_UP,
	DISK_PATH_STANDBY, // up, but its ALUA state does not serve I/O
	DISK_PATH_FAULTY,  // another unit, or refused for good; looked at again from time to time
};
const char *disk_path_state_text(enum disk_path_state s); // any thread

// What the user should know, although requests may succeed.
enum disk_notice {
	DISK_RESERVATION_LOST,	   // 2A/03, 2A/04, 2A/05
	DISK_RESERVATION_CONFLICT, // status 18h: requests fail with -EBADE
	DISK_SPACE_LOW,		   // 38/07: the soft threshold of a thin pool
	DISK_SPACE_EXHAUSTED,	   // 27/07: writes fail with -ENOSPC
	DISK_NOT_FENCED,	   // writes went on after fence_wait
	DISK_TAKEN,		   // with disk_reserve(): by another host; writes fail with -EBADE
	DISK_NOTICE_COUNT,
};
// A word for programs ("space-low"), and what has happened and what to do. Any thread.
const char *disk_notice_word(enum disk_notice n);
const char *disk_notice_text(enum disk_notice n);

struct disk_path_info {
	const char *name; // valid as long as the disk
	uint16_t lun;
	enum disk_path_state state;
	const char *alua; // "active/optimized", ...; "" if the unit has none
	char peer[SCSI_ADDRESS_TEXT], local[SCSI_ADDRESS_TEXT];
	unsigned reconnects;
	uint64_t commands, bytes_read, bytes_written, errors, failovers;
	struct err why; // of the last loss or fault; code 0: none
	// Its sessions have ended soon after the login, several in a row, and none has lasted
	// since.
	bool is_unsteady;
	// Its lost nexus may still write: writes of the same blocks wait. unfenced: why it is not
	// fenced yet.
	bool is_fencing;
	struct err unfenced;
};

// On the disk's worker. Absent slots do nothing. All slots may call every function here except
// disk_free().
struct disk_ops {
	// The first path is up and the facts are known, or (why->code) the disk cannot be opened:
	// no path could be used at first login. Called once.
	void (*ready)(void *arg, const struct err *why);
	// After ready: each path has been up, in standby or faulty, or has failed to log in once.
	// Called once.
	void (*settled)(void *arg);
	// The state of path index has changed, or the reason for it (why->code 0: without a fault),
	// or it is not unsteady any more.
	void (*path)(void *arg, unsigned index, enum disk_path_state state, const struct err *why);
	// All paths are gone (requests queue) or (why->code 0) one is up again.
	void (*no_path)(void *arg, const struct err *why);
	// No path for no_path_retry seconds: requests fail until one is up.
	void (*failing)(void *arg, unsigned seconds);
	// disk_facts() has changed: the capacity, or write protection.
	void (*changed)(void *arg);
	// The unit was restarted with loss of data, or replaced: requests fail with -ESTALE from
	// now on (unless allows_replaced).
	void (*stale)(void *arg, const struct err *why);
	// A notice holds from now on, or (is_over) does not any more: one of conflict or exhausted
	// space is over when something was written a minute after the last such answer.
	void (*notice)(void *arg, enum disk_notice n, bool is_over);
	// A path has logged in as a nexus that disk_nexuses_recorded() has not named; the path is
	// not used before that. Only after disk_records().
	void (*nexus)(void *arg);
	// No nexus of disk_inherit() is left to be fenced.
	void (*inherited)(void *arg);
	// The disk is reserved, or (why->code) cannot be. Called once, after disk_reserve().
	void (*reserved)(void *arg, const struct err *why);
	// After disk_close(): all sessions have ended, all requests are done.
	void (*closed)(void *arg);
};

// ---- requests ----

enum disk_op {
	DISK_READ,
	DISK_WRITE,
	DISK_FLUSH,
	DISK_UNMAP,
	DISK_WRITE_ZEROES,
	DISK_EXTENTS, // which parts of a range are mapped: GET LBA STATUS [SBC-4 5.9]
	DISK_OP_COUNT,
};

// Consecutive blocks of one kind.
struct disk_extent {
	uint64_t len; // bytes, not 0
	bool is_hole; // deallocated: a write may find no space
	bool is_zero; // reads as zeroes
};
enum { DISK_EXTENTS_MIN = 24 }; // bytes of memory: for one extent

// The caller owns the memory of the request, of sg and of the data until done. Over RDMA data
// memory announced by core/region.h needs no registration per command.
struct disk_io {
	uint8_t op;	      // enum disk_op
	bool is_fua;	      // DISK_WRITE, DISK_WRITE_ZEROES: durable when done
	bool may_not_unmap;   // DISK_WRITE_ZEROES: blocks stay allocated
	uint64_t offset, len; // bytes, multiples of the block size; of FLUSH ignored
	// Of DISK_READ and DISK_WRITE: exactly len bytes. Of DISK_EXTENTS: one piece of
	// DISK_EXTENTS_MIN bytes or more, 16 for each further extent, aligned to 8; in the end an
	// array of struct disk_extent.
	struct sg *sg;
	unsigned nsg;
	// Set by DISK_EXTENTS: how many, at least one. They begin at offset and may end before
	// offset + len. What the disk does not tell is one extent of data.
	unsigned extents;
	void (*done)(struct disk_io *io); // may submit again from inside
	void *arg;
	// 0, or as a block device reports it: -EIO; -ENODATA (medium error); -ENOSPC (thin pool
	// full); -EROFS (write protected, read-only); -EBADE (reservation conflict, or the disk was
	// taken by another host); -ETIMEDOUT;
	// -ENOTCONN (no path for no_path_retry seconds); -ESTALE; -EINVAL (range); -EOPNOTSUPP;
	// -ESHUTDOWN (disk_close).
	int res;

	// private
	struct scsi_cmd cmd;
	struct list link;
	struct disk *disk;
	struct disk_path *path;
	uint64_t at, part_len, since_ns, begin_ns;
	struct sg part[4]; // piece of a request that is split
	bool is_flushing;  // after a write with is_fua
	unsigned tries, losses;
	uint8_t unmap[24];
};

// ---- nexuses that may still write ----

// An I_T nexus that writes, or has written, the disk. What a successor of a dead process needs to
// end it.
struct disk_nexus {
	struct scsi_nexus nexus;
	uint16_t relative_port; // RELATIVE TARGET PORT IDENTIFIER; 0: unknown
	uint64_t server;	// which farblockd, of page F0h; 0: another target, or unknown
};
enum { DISK_NEXUSES_MAX = 64 };

// ---- functions ----

// Starts all paths; ready follows. ops and config are copied, ops->arg is not owned. An error with
// a text: no callback follows.
int disk_new(struct disk **ret, struct worker *w, const struct disk_config *config,
	     const struct disk_ops *ops, void *arg, struct err *e);
// Queues io; done follows, never from inside. Allocates nothing.
void disk_submit(struct disk *d, struct disk_io *io);
// Ends queued requests with -ESHUTDOWN, waits for those in flight (those of lost paths end too),
// logs out; closed follows.
void disk_close(struct disk *d);
// After closed, or after disk_new() failed ready. NULL is fine.
void disk_free(struct disk *d);

// Valid after ready; changes before ops->changed.
const struct disk_facts *disk_facts(const struct disk *d);
unsigned disk_notices(const struct disk *d); // those that hold: bits by enum disk_notice
unsigned disk_path_count(const struct disk *d);
void disk_path_info(const struct disk *d, unsigned index, struct disk_path_info *ret);
// scsi_session_describe() of the path's session; nothing between two sessions.
void disk_path_describe(const struct disk *d, unsigned index, scsi_say *say, void *arg);
struct worker *disk_worker(const struct disk *d);

// After ready, before the first request: reserves the disk for this host, so that the nexus of a
// lost path is fenced by PREEMPT AND ABORT of its key [SPC-4 5.12.11]. Each path registers a key of
// its own before it is used, host in its upper half; registrations with that half that are not of
// this disk's paths are those of former processes, and are preempted. ops->reserved follows, never
// from inside: -EBUSY: another host has registered or reserved; -EOPNOTSUPP: the target cannot;
// others of the first path. Then the disk is only to be closed. disk_close() takes registrations
// and reservation away, unless something of a lost path may still come.
void disk_reserve(struct disk *d, uint32_t host);
// After closed: registrations are left on the disk.
bool disk_is_left_reserved(const struct disk *d);
// After ready, before the first request: fences what a former process has left, the nexuses of its
// paths. ops->inherited follows, never from inside; without any at the end of the round. -E2BIG:
// more than DISK_NEXUSES_MAX; -ENOMEM.
int disk_inherit(struct disk *d, const struct disk_nexus *nexuses, unsigned count);
unsigned disk_inherited(const struct disk *d); // how many are left
// The nexuses of all paths that have been up, and those that are not fenced yet; the number of
// them. is_lost: only the latter.
unsigned disk_nexuses(const struct disk *d, struct disk_nexus ret[DISK_NEXUSES_MAX], bool is_lost);
// From now on a path is used only once its nexus is recorded.
void disk_records(struct disk *d);
// The nexuses are recorded where a successor finds them.
void disk_nexuses_recorded(struct disk *d, const struct disk_nexus *nexuses, unsigned count);
