// SPDX-License-Identifier: BSD-2-Clause
// The parts of a disk: its paths (path.c, check.c), its requests (io.c), which path a request takes
// (select.c). All on the disk's worker.
#pragma once

#include "initiator/disk/alua.h"
#include "initiator/disk/disk.h"
#include "initiator/disk/facts.h"

enum {
	LOST_RANGES_MAX = 64,
	LOST_DATA_MAX = 8 + 4 + 256,
	RESERVATION_KEYS_MAX = 128, // on the disk, those of others included
};

// A nexus that was lost with writes of unknown outcome, until the target cannot execute them any
// more. fence.c
struct disk_lost {
	struct list link; // of disk.lost; else nothing is unknown
	struct disk *disk;
	struct disk_path *path; // whose it was; NULL: of a former process
	struct disk_nexus id;
	uint64_t since_ns;
	struct lost_range {
		uint64_t at, end; // bytes
	} ranges[LOST_RANGES_MAX];
	unsigned range_count;

	// The attempt to fence it.
	unsigned next;	       // a way and a path
	struct disk_path *via; // NULL: none is under way
	struct scsi_fence *fence;
	struct scsi_cmd cmd;
	bool is_cmd_out, is_cmd_stale;
	bool is_preempting; // cmd is PREEMPT AND ABORT of its key; else REMOVE I_T NEXUS
	unsigned attentions, waits;
	uint8_t data[LOST_DATA_MAX];
	struct defer start;
	struct timer retry;
	struct err why; // of the last attempt's failure

	// With a reservation. Its key is not registered; it has ended only as far as the
	// reservation keeps out what it has sent.
	bool is_unregistered, is_kept_out;
};

// The reservation of a disk that one host uses, and the path that registers. reservation.c
struct reservation {
	bool is_on, is_told; // disk_reserve() was called, and answered
	bool is_held;	     // by one of the own keys
	bool is_taken;	     // another one has registered or reserved: writes fail
	bool is_releasing, is_released;
	uint32_t host;			// the upper half of all keys
	uint64_t own[DISK_NEXUSES_MAX]; // keys that this process has registered
	unsigned own_count;

	struct disk_path *path; // NULL: none registers
	unsigned step, rounds, waits, attentions, looks;
	bool is_out, must_reserve;
	struct scsi_cmd cmd;
	struct timer wait;
	uint64_t dead[RESERVATION_KEYS_MAX];  // keys of former processes, to be preempted
	uint64_t ended[RESERVATION_KEYS_MAX]; // those that were
	unsigned dead_count, ended_count, key_count;
	uint64_t keys[RESERVATION_KEYS_MAX]; // all that are registered
	uint8_t data[8 + 8 * RESERVATION_KEYS_MAX];
};

#define NS_PER_SEC 1000000000ull
#define US_PER_SEC 1000000ull

struct disk_path {
	struct disk *disk;
	unsigned index;
	struct disk_path_config config; // config.config is owned
	struct scsi_session *session;	// NULL: between two sessions
	enum disk_path_state state;
	bool was_up;	      // this session was
	bool is_watched;      // this session's unit is identified
	bool is_leaving;      // a logout was requested
	bool is_wrong;	      // another unit is behind it
	bool is_proven;	      // its unit was the disk once
	bool is_check_due;    // again, when the running one has ended
	unsigned failures;    // attempts to log in, in a row
	struct timer steady;  // since the last login
	unsigned short_lives; // sessions that ended before that, in a row
	struct timer reopen;

	// A check: facts_steps, then REPORT TARGET PORT GROUPS.
	struct scsi_cmd cmd;
	struct timer wait;
	bool is_checking, is_out;
	unsigned step, waits, attentions;
	struct facts found;
	uint8_t data[FACTS_DATA_MAX];
	bool has_alua;
	enum alua_state alua;
	bool is_preferred;

	// Its nexus, since it was up; what the target promises of fences.
	struct disk_nexus nexus;
	uint8_t promises;
	bool is_examined;   // this session was checked
	bool is_redirected; // so was its login
	bool is_recorded;   // the nexus is
	bool is_held;	    // not used until it is, its lost nexus is fenced, and it is registered
	bool wants_registration, is_registered;
	struct disk_lost lost;

	struct list flying; // requests
	unsigned flying_count;
	uint64_t flying_bytes;
	uint64_t rate; // bytes a second, of the last requests; 0: unknown
	struct disk_path_info info;
};

// What the parts below disk.c tell it.
struct disk_events {
	void (*paths_changed)(struct disk *d); // their states, or the end of a session
	void (*looked)(struct disk *d, const struct err *why); // a path is up, or cannot be used
	void (*found)(struct disk *d, const struct facts *found);
	void (*session_gone)(struct disk_path *p);
	void (*stale)(struct disk *d, const struct err *why); // lost data, or no unit left
	void (*fenced)(struct disk *d);	    // requests and paths that waited for it go on
	void (*fence_late)(struct disk *d); // requests have waited for no_path_retry seconds
	void (*fence_gone)(struct disk *d); // an attempt's session has ended
	void (*idle)(struct disk *d);	    // closing: a path has no request, or it is released
	void (*taken)(struct disk *d);	    // writes fail from now on
};

struct disk {
	struct worker *worker;
	const struct disk_events *events;
	struct disk_config config;
	struct disk_ops ops;
	void *arg;
	struct disk_path *paths;
	unsigned path_count, next; // next: of round robin
	struct facts facts;
	bool is_ready, is_told; // ready was called
	bool is_settled;	// ... settled
	bool has_no_path;	// told
	bool fails_at_once;	// no path for no_path_retry seconds
	bool is_stale;
	struct err stale_why, first_why;
	bool is_closing, is_closed;
	unsigned notices; // bits
	uint64_t notice_ns[DISK_NOTICE_COUNT];
	uint8_t *zeroes; // a block

	struct list queue;   // requests that wait for a path
	struct list delayed; // ... for some time, then for a path
	struct list over;    // ... that end without a command
	struct list fencing; // ... that wait for a fence

	struct list lost;	     // disk_lost, oldest first; empty but after a loss
	struct disk_lost *inherited; // of former processes
	unsigned inherited_count, fences_open;
	struct reservation reservation;
	bool records, is_inherited_due;
	struct defer inherited_defer;
	struct defer pump, over_defer, close_defer, give_up;
	struct timer delay, no_path, recheck, close_limit;
};

// Each file calls those above it.

// ---- state.c ----
void path_set_state(struct disk_path *p, enum disk_path_state s, const struct err *why);
bool disk_has_path(const struct disk *d);
// p may have lost its registration: not used before its next check.
void path_unregistered(struct disk_path *p);
// Another unit is behind p. Once that is so for all paths, the disk has gone.
void path_set_wrong(struct disk_path *p, const struct err *why);

// ---- notice.c ----
void notice_set(struct disk *d, enum disk_notice n);
void notice_attention(struct disk_path *p, uint8_t asc, uint8_t ascq);
void notice_written(struct disk *d); // something was

// ---- select.c ----
struct disk_path *select_path(struct disk *d); // NULL: none serves I/O
void select_begin(struct disk_path *p, const struct disk_io *io);
void select_end(struct disk_path *p, const struct disk_io *io);

// ---- reservation.c ----
void reservation_init(struct disk *d);
// The key of a nexus of this host: the same in each process.
uint64_t reservation_key(const struct disk *d, const struct scsi_nexus *n);
// p was checked. True: it is not used before it has registered, which begins; events.fenced
// follows, or p is faulty.
bool reservation_path_checked(struct disk_path *p);
// A command of p was answered with a conflict. True: it may be repeated once p has registered
// again, which the next check begins.
bool reservation_conflict(struct disk_path *p);
void reservation_path_down(struct disk_path *p);
bool reservation_is_taken(const struct disk *d);
// Whether the target has answered the PREEMPT AND ABORT of a nexus of a former process.
bool reservation_has_ended(const struct disk *d, const struct scsi_nexus *n);
// Once no path has a request: begins to take all registrations away. True: events.idle follows.
bool reservation_release(struct disk *d);
void reservation_close(struct disk *d);

// ---- fence.c ----
void fence_init(struct disk_lost *l, struct disk *d, struct disk_path *p);
// io, a write, ended without an answer.
void fence_note(struct disk_io *io);
// Whether io must wait: the target may still execute an older write of its blocks.
bool fence_blocks(const struct disk *d, const struct disk_io *io);
// The session of p is up: as what nexus. A lost one of the same names has ended with that.
void fence_path_up(struct disk_path *p);
// p was checked: it can be used to fence others. True: its own fence or record is to come first.
bool fence_path_checked(struct disk_path *p);
void fence_path_down(struct disk_path *p);
void fence_path_settled(struct disk_path *p); // the target has confirmed its logout
bool fence_is_needed(const struct disk *d);   // something lost may still come
void fence_close(struct disk *d);	      // no attempt follows; those under way end

// ---- check.c ----
void check_begin(struct disk_path *p); // runs again if one is running
void check_end(struct disk_path *p);   // no step follows
void check_states(struct disk *d);     // of all paths that have access states

// ---- path.c ----
void path_init_steady(struct disk_path *p);
bool path_is_unsteady(const struct disk_path *p); // its sessions do not last
bool path_is_new(const struct disk_path *p);	  // this session has not lasted yet
void path_open(struct disk_path *p);
void path_restart(struct disk_path *p); // logs out and in again
void path_leave(struct disk_path *p);
// The unit of p is another one, or has lost data.
void path_stale(struct disk_path *p, enum scsi_lu_change change, const struct err *why);

// ---- io.c ----
void io_fail_all(struct disk *d, int res);     // what waits
void io_fail_fencing(struct disk *d, int res); // ... for a fence
void io_pump_later(struct disk *d);
void io_over(struct defer *defer); // of disk.over_defer
void io_on_delay(struct timer *t); // of disk.delay
