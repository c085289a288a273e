// SPDX-License-Identifier: BSD-2-Clause
// Logical unit: one storage object's device server state, shared by every path to it.
//
// Ownership: the control thread creates, changes settings and closes. The LU's home worker owns the
// state that all paths share (reservations, ALUA, frozen ranges). On the I/O path a worker reads
// only its own struct lu_channel, which the home worker updates by messages; a change is complete
// when every channel has acknowledged it.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "backstores/backstore.h"
#include "core/attr.h"
#include "core/list.h"
#include "core/worker.h"
#include "target/scsi/ua.h"

struct alua; // alua/groups.c: target port groups
struct device_server;
struct io_log; // io_log.c: failures of the storage
struct lu;
struct nexus;
struct pr_state; // reservations/state.c: registrations and the reservation, home worker
struct pr_view;	 // reservations/state.c: immutable snapshot of the above, one per channel
struct task;
struct third_party; // copy/results.c

// Settings of a storage object; the rows are in lu_attr.c. Written by the control thread
// with relaxed atomic stores of single fields, read anywhere.
struct lu_attr {
	// Fields read by every command come first: see struct lu.
	uint32_t block_size, queue_depth, max_transfer_kib, emulate_fua_write;
	uint32_t emulate_tpu, emulate_tpws;
	uint32_t emulate_caw, emulate_3pc, emulate_pr, emulate_tas, emulate_ua_intlck_ctrl;
	uint32_t emulate_write_cache, emulate_fua_read, emulate_dpo;
	uint32_t emulate_model_alias, emulate_rest_reord, emulate_rsoc;
	uint32_t enforce_pr_isids, force_pr_aptpl;
	uint32_t is_nonrot, optimal_sectors, max_write_same_len;
	uint32_t max_unmap_lba_count, max_unmap_block_desc_count;
	uint32_t unmap_granularity, unmap_granularity_alignment, unmap_zeroes_data;
	uint32_t pi_prot_type, pi_prot_format, pi_prot_verify, alua_support, pgr_support;
	uint32_t hw_block_size, hw_queue_depth, hw_max_sectors, hw_pi_prot_type, submit_type;
	// ours
	uint32_t removable, max_caw_blocks, atomic_write_kib;
	uint32_t thin_threshold_percent;
	struct bs_faults faults; // filters error and delay
	char vendor[9], product[17], revision[5];
};

extern const struct attr_row lu_attr_rows[]; // of struct lu_attr, targetcli's names first

// Latency histogram: bucket i counts commands that took less than 2^i us (the last: more).
#define LU_LATENCY_BUCKETS 24
enum lu_op { LU_OP_READ, LU_OP_WRITE, LU_OP_OTHER, LU_OP_MAX };
struct lu_counters {
	struct lu_op_counters {
		uint64_t commands, bytes, latency_sum_us;
		uint64_t latency[LU_LATENCY_BUCKETS];
	} op[LU_OP_MAX];
	uint64_t errors; // CHECK CONDITION other than unit attentions
	// Of a logical unit only: time that its commands were with the backstore, in rounds of the
	// worker as the latencies are. 0 for what moves in a RAM disk's own memory.
	uint64_t storage_ns;
};

// A range of blocks that tasks must not touch while a COMPARE AND WRITE or the like owns it.
struct lu_frozen {
	struct list link;
	struct list waiters; // tasks that wait for it; each looks for another one afterwards
	uint64_t lba, blocks;
	const struct task *owner; // it passes
};

// One worker's view of the LU. Touched by that worker only.
struct lu_channel {
	struct list tasks;    // submitted and not done, in order of arrival
	struct list frozen;   // struct lu_frozen; empty on the fast path
	struct pr_view *pr;   // NULL: no reservation, no registrations
	uint64_t reserved_by; // nexus id that holds RESERVE(6/10), 0 none
	struct lu_counters counters;
	struct lu *lu;
	struct worker *worker;
	struct list nexus_luns; // every nexus of this worker that maps the LU
	// taskset.c
	struct list ready;	   // nexus_luns whose oldest waiting task may run
	struct list thawed;	   // tasks that waited for blocks no longer frozen
	struct taskset_walk *walk; // under way, innermost first
	bool is_resuming;
};

enum lu_medium { LU_MEDIUM_PRESENT, LU_MEDIUM_EJECTED };

// Fields read by every command come first, in two cache lines and the first one of the attributes:
// with a thousand logical units in use, the cache lines that a command touches determine its cost.
struct lu {
	const struct backstore_type *type;
	uint8_t *memory; // of a RAM disk, else NULL: then data moves through bs. lu_memory()
	uint64_t blocks; // capacity; relaxed atomic, changed by lu_set_size()
	uint32_t block_size, block_shift;
	struct backstore *bs; // top of the stack; lu_bs() on the I/O path
	struct alua *alua;    // home worker writes; readers see relaxed atomics
	uint32_t sanitize;    // medium.h: 0 idle; atomic
	uint32_t rod_tokens;  // number of valid ROD tokens for its blocks, relaxed atomic
	uint8_t medium;	      // enum lu_medium, relaxed atomic
	uint8_t d_sense, swp; // mode page 0Ah, relaxed atomics; MODE SELECT at home
	uint8_t wce;	      // mode page 08h
	bool is_readonly;     // the backstore is
	uint8_t failing_ops;  // io_log.h, relaxed atomic
	uint32_t max_io;      // bytes, the backstore's longest transfer; 0: no limit
	struct lu_attr attr;

	int refs;				       // atomic
	uint32_t id;				       // unique in this process, never reused
	char *name;				       // of the storage object
	struct backstore *error_filter, *delay_filter; // in the stack, or NULL. Control thread
	const struct device_server *server;	       // lu_part.h
	struct worker *home;
	struct worker *control; // closes it; NULL: the thread that drops the last reference
	char unit_serial[40];	// the storage object's wwn
	uint8_t naa[16];	// NAA 6 registered extended, from unit_serial
	struct lu_channel *channels[WORKER_MAX]; // created on first use by that worker
	// Guards the table of channels and the state that a new channel copies: the active freezes,
	// and data read by channel_init() of the parts. Never taken on the I/O path.
	pthread_mutex_t lock;
	struct list freezes;	  // freeze.c: the oldest requests, FIFO. Home worker
	struct list freeze_queue; // those behind them
	unsigned freeze_count;	  // of freezes
	bool is_freeze_posted;
	struct msg freeze_msg;
	struct pr_state *pr;		 // home worker
	bool sanitize_ause;		 // of the last SANITIZE, relaxed atomic
	bool is_space_low;		 // sbc/thin_threshold.c, control thread
	bool sanitize_stops;		 // sanitize_stop() was called, relaxed atomic
	uint32_t prevented;		 // nexuses that prevent medium removal, relaxed atomic
	struct third_party *third_party; // copy results
	struct io_log *io_log;
	char *state_dir;	   // APTPL files; NULL: not kept
	void (*closed)(void *arg); // see lu_new
	void *closed_arg;
	struct msg close_msg; // private
};

// Creates an LU over bs, which it then owns; on failure the caller keeps bs. server executes its
// commands; attr holds the settings; unit_serial is a UUID text. Control thread; may block (reads
// the APTPL file in state_dir).
int lu_new(struct lu **ret, const struct device_server *server, const char *name,
	   struct backstore *bs, const char *unit_serial, const struct lu_attr *attr,
	   const char *state_dir, struct err *e);
// After the last lu_put() the LU and its bs are closed on control, which need not run yet; then
// closed is called there. Control thread, before others know the LU.
void lu_set_closed(struct lu *lu, struct worker *control, void (*closed)(void *arg), void *arg);
struct lu *lu_get(struct lu *lu); // any thread
void lu_put(struct lu *lu);	  // any thread; NULL is fine

// Checks the settings before use: -EINVAL with text for contradictory ones. Applies one setting to
// a live LU and raises its unit attention. Control thread.
int lu_attr_check(const struct lu_attr *attr, const struct bs_limits *limits, struct err *e);
int lu_attr_apply(struct lu *lu, const struct attr_row *row, const char *text, struct err *e);
// For lu_new(): adds the filters of attr.faults to the stack.
int lu_faults_apply(struct lu *lu, struct err *e);
// For lu_new(), on failure: restores the original stack.
void lu_faults_remove(struct lu *lu);
// Largest READ or WRITE in blocks: max_transfer_kib and the backstore's own limit. Any thread.
uint32_t lu_max_transfer(const struct lu *lu);

// The backstore changed its size: new capacity, CAPACITY DATA HAS CHANGED for every nexus. Control
// thread.
void lu_set_size(struct lu *lu, uint64_t bytes);

// The calling worker's channel, created if needed. NULL: no memory.
struct lu_channel *lu_channel(struct lu *lu);

// Runs each(channel, round) on every worker that has a channel, then done(round) on the
// calling worker, possibly before lu_round_start() returns. Data worker. The caller sets
// each, done and awaits (or NULL), and the memory lives until done. The calling worker's
// own channel is served at once.
//
// A channel may come into being meanwhile: it copies the shared state under lu->lock. So
// change that state under lu->lock first, then start the round; each() may then find the
// change made already and must not mind.
//
// What a round waits for may be memory that a transport reads from or writes to, and so up to a
// peer. That has a limit, however the peer trickles.
struct lu_round_slot {
	struct msg msg;
	struct lu_round *round;
	struct lu_channel *channel;
	struct lu_round_slot *next; // in the blocker's awaited_by
	struct timer limit;	    // armed while there is a blocker
	unsigned looks;		    // how often it has passed
	bool is_telling;	    // armed to look for one more
};
struct lu_round {
	void (*each)(struct lu_channel *c, struct lu_round *r);
	// Whether the round waits for t, a task of the channel's set. Asked after each(), on the
	// channel's worker, of one task after the other, and again of the one it waits for when
	// that changes. A task that comes or begins later has looked at what each() has done, so
	// that the round need not wait for it. NULL: for none.
	bool (*awaits)(const struct lu_round *r, const struct task *t);
	void (*done)(struct lu_round *r);
	// private
	struct lu_round_slot slots[WORKER_MAX], own;
	struct lu *lu;
	struct worker *home;
	unsigned pending; // atomic
};
void lu_round_start(struct lu_round *r, struct lu *lu);
// How long a round waits for data that transports are moving. Then the nexuses of those tasks are
// called (nexus_ops.overdue). A variable for tests.
extern uint32_t lu_round_limit_ms;
// For a task with awaited_by that changes: rounds that need not wait for it any longer continue,
// but not before this function has returned to the worker's loop.
void lu_round_watch_next(struct task *t, bool is_leaving);

// Freezes [lba, lba + blocks) for t on every channel and waits until no task in flight there
// overlaps; granted runs on t's worker, possibly at once. Ranges that overlap wait for each
// other, FIFO. Tasks that come later and overlap wait (TASK_WAITS_TURN) until lu_thaw().
// Between the call and granted t must not touch the medium. A task aborted meanwhile ends
// instead of being granted; without memory it ends with BUSY. Task's worker; one at a time.
void lu_freeze(struct task *t, uint64_t lba, uint64_t blocks, void (*granted)(struct task *t));
// Ends it: the medium is as t leaves it. Ending the task does it too.
void lu_thaw(struct task *t);

static inline bool lu_ranges_overlap(uint64_t a, uint64_t na, uint64_t b, uint64_t nb)
{
	return na && nb && (a < b ? b - a < na : a - b < nb);
}

// Sum of the channels' counters; may be slightly inconsistent. Any thread.
void lu_counters_sum(const struct lu *lu, struct lu_counters *ret);

// Reads of the I/O path: a fault filter may be added while I/O runs, which also ends direct access.
// I/O in flight continues with the old pointers, which stay valid.
static inline struct backstore *lu_bs(const struct lu *lu)
{
	return __atomic_load_n(&lu->bs, __ATOMIC_ACQUIRE);
}

static inline uint8_t *lu_memory(const struct lu *lu)
{
	return __atomic_load_n(&lu->memory, __ATOMIC_RELAXED);
}

// A setting; the control thread may change it concurrently.
static inline uint32_t lu_setting(const uint32_t *field)
{
	return __atomic_load_n(field, __ATOMIC_RELAXED);
}

// The cache mode that initiators see: that of the backstore, or "writethrough" if every write is
// durable, as with emulate_write_cache=0. NULL: it has none. Any thread.
const char *lu_cache_name(const struct lu *lu);

// WCE, as of now. A write that was given to the backstore without BS_FUA looks again when it is
// done: if the cache went off meanwhile, it is flushed before the command ends.
static inline bool lu_is_write_cached(const struct lu *lu)
{
	return __atomic_load_n(&lu->wce, __ATOMIC_RELAXED);
}

static inline uint64_t lu_capacity(const struct lu *lu)
{
	return __atomic_load_n(&lu->blocks, __ATOMIC_RELAXED);
}
