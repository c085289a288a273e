// SPDX-License-Identifier: BSD-2-Clause
// State of a logical unit: what commands read, and what its home worker keeps.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "backstores/backstore.h"
#include "core/list.h"
#include "core/worker.h"
#include "target/scsi/lu_attr.h"

struct alua; // alua/groups.c: target port groups
struct device_server;
struct io_log; // io_log.c: failures of the storage
struct lu_channel;
struct pr_state;    // reservations/state.c: registrations and the reservation, home worker
struct third_party; // copy/results.c

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
	bool is_medium_new;   // lu_set_medium_changed()
	bool is_absent;	      // lu_set_absent()
	uint8_t failing_ops;  // io_log.h, relaxed atomic
	uint32_t max_io;      // bytes, the backstore's longest transfer; 0: no limit
	struct lu_attr attr;

	int refs;				       // atomic
	uint32_t id;				       // unique in this process, never reused
	uint64_t disk, awaited;			       // lu_set_disk()
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
	struct list endings;	  // ending.c: writes of ended nexuses in the storage; under lock
	uint32_t ended_writes;	  // their number, relaxed atomic
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

// Whether both are one storage object, and one stands in for the other (lu_set_absent()).
static inline bool lu_stands_in(const struct lu *x, const struct lu *y)
{
	return x->is_absent != y->is_absent && !memcmp(x->naa, y->naa, sizeof x->naa);
}

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

// Largest READ or WRITE in blocks: max_transfer_kib and the backstore's own limit. Any thread.
static inline uint32_t lu_max_transfer(const struct lu *lu)
{
	uint64_t bytes = (uint64_t)lu_setting(&lu->attr.max_transfer_kib) << 10;
	if (lu->max_io && lu->max_io < bytes)
		bytes = lu->max_io;
	return (uint32_t)(bytes >> lu->block_shift);
}
