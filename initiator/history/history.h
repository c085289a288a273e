// SPDX-License-Identifier: BSD-2-Clause
// The history of a disk's blocks, each of which is a register: which stamps it may hold, given the
// writes that were acknowledged, failed, are unknown or under way. Every write has a stamp of its
// own; every operation has a start, an end and an outcome. Verdicts are exact for each block (not
// for several together: a write of several blocks may be torn between them), and are reached as
// reads end, in the memory that history_new() has taken.
//
// The values of a block are ordered: X comes before Y if an operation of X (its write, a read that
// returned it) had ended before one of Y began. Two that come before each other are a violation:
// linearizability of a register whose values are unique, with these rules for writes not
// acknowledged:
//   failed    it took effect before its end, or not at all;
//   unknown   it may take effect at any time after its start, or not at all; but a write that began
//             after its end and is acknowledged comes after it. Seen later, it came back.
//
// One thread at a time; nothing blocks. Times are the caller's, in ns of one monotonic clock, 1 or
// more. Operations that begin when another ends are concurrent with it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

enum {
	HISTORY_STAMP_LEN = 64,	 // block sizes are multiples of it
	HISTORY_VALUES_MAX = 64, // of a block: written, and not yet overwritten for certain
	HISTORY_SPAN_MAX = 1024, // blocks of an operation
	HISTORY_TEXT_MAX = 400,
};

// What a block holds, once in every HISTORY_STAMP_LEN bytes. Native byte order.
struct history_stamp {
	uint64_t magic, disk, block, writer;
	uint64_t seq;	  // 1 for the first write of a history, then one more for each write
	uint64_t time_ns; // start of the write
	uint64_t reserved, check;
};

enum history_outcome {
	HISTORY_OK,
	HISTORY_FAILED,	 // it is over
	HISTORY_UNKNOWN, // it may still take effect
};

enum history_kind {
	HISTORY_CAME_BACK, // a value that had been seen, or a newer one, was replaced by an older
			   // one
	HISTORY_LOST, // an acknowledged write that no read has seen; the block has an older value
	HISTORY_MISPLACED, // the stamp of another block or disk
	HISTORY_GARBAGE,   // no stamp, different ones, or that of a write that had not begun
};

struct history_violation {
	enum history_kind kind;
	uint64_t block;
	struct history_stamp old;   // what was read; zeros: no stamp, or never written
	struct history_stamp newer; // the newest of those that should have replaced it
	uint64_t old_end_ns;	    // 0: unknown to the history by now
	uint64_t newer_end_ns;	    // when it was acknowledged or first seen
	uint64_t read_start_ns, read_end_ns;
	bool old_was_unknown; // its write had no known outcome
};

struct history_config {
	uint64_t disk;	     // identity in stamps
	uint64_t blocks;     // 0..blocks-1, all zeros at the beginning
	uint32_t block_size; // bytes, a multiple of HISTORY_STAMP_LEN, at most 65536
	uint32_t ops_max;    // operations at a time
	// A violation; v is valid during the call. NULL: only counted. May not call the history.
	void (*violation)(void *arg, const struct history_violation *v);
	void *arg;
};

struct history;

// -EINVAL for values that are no size, -ENOMEM. Memory: 4 MiB, some 300 bytes a block, 48 an
// operation.
int history_new(struct history **ret, const struct history_config *config, struct err *e);
// NULL is fine.
void history_free(struct history *h);

// Begins a write of count blocks (1 to HISTORY_SPAN_MAX) and fills data (count * block_size bytes)
// with its stamps. Returns the operation, 0 or more, until history_end(). -EINVAL: not within the
// disk. -EBUSY: ops_max operations are under way, or a block has HISTORY_VALUES_MAX values: an
// acknowledged write or a read to one of them makes room.
int history_write(struct history *h, uint64_t block, uint32_t count, uint64_t writer,
		  uint64_t now_ns, void *data);
// Begins a read, as history_write().
int history_read(struct history *h, uint64_t block, uint32_t count, uint64_t now_ns);
// Ends an operation. data: what a read with HISTORY_OK returned, else ignored. Returns how many
// blocks were in violation. What they hold then counts as their only value, so that it is reported
// once; garbage is reported by each read.
// A write that is sent again under the same stamp has ended when the last one has.
unsigned history_end(struct history *h, int op, enum history_outcome outcome, uint64_t now_ns,
		     const void *data);

// The sequence numbers that a read of block, begun at now_ns, may return; 0: never written. Returns
// how many there are, and stores at most max.
unsigned history_legal(const struct history *h, uint64_t block, uint64_t now_ns, uint64_t *ret_seq,
		       unsigned max);
// The number of violations so far.
uint64_t history_violations(const struct history *h);

const char *history_kind_name(enum history_kind kind);
// One line without newline: the block, both stamps, all times in seconds since zero_ns.
void history_text(const struct history_violation *v, uint64_t zero_ns, char text[HISTORY_TEXT_MAX]);

// The stamps of a block of block_size bytes: false unless it has one, the same everywhere (all
// zeros: a stamp of zeros).
bool history_stamp_read(const void *data, uint32_t block_size, struct history_stamp *ret);
void history_stamp_fill(void *data, uint32_t block_size, const struct history_stamp *s);
// The check of a stamp's other fields.
uint64_t history_stamp_check(const struct history_stamp *s);
