// SPDX-License-Identifier: BSD-2-Clause
// Of history.c and judge.c: values of blocks, and their order. See history.h.
#pragma once

#include "initiator/history/history.h"

#define HISTORY_MAGIC 0x6661726873746d70u // "farhstmp"
#define NEVER	      UINT64_MAX

// A write to one block with all reads that returned it.
struct value {
	uint64_t seq, writer;
	uint64_t begin;	 // of the write
	uint64_t end;	 // of the write, NEVER: under way
	uint64_t latest; // start of its operations: what ended before comes before it
	uint64_t took;	 // earliest end of its operations by which it has taken effect, or NEVER
	uint8_t outcome; // once it has ended
	bool is_seen;
	uint32_t next; // in the block's list
};

struct block {
	uint32_t values;      // list, newest first
	uint16_t count;	      // of it
	uint16_t reads;	      // under way
	uint64_t oldest_read; // start; of an earlier one while reads is not 0
	uint64_t seen_seq;    // newest that a read has returned
};

struct operation {
	uint64_t block, start, seq; // seq 0: a read
	uint32_t count, next;	    // of the free ones
	bool is_used;
};

struct history {
	struct history_config config;
	struct block *blocks;
	struct value *values;
	struct operation *ops;
	uint32_t free_value, free_op; // lists; NONE: empty
	uint64_t seq, violations;
};

#define NONE UINT32_MAX

// Adds a value at the head of a block's list; NULL: the block, or the history, has no room.
struct value *history_add(struct history *h, struct block *b);
// Removes values that no read may return any more.
void history_prune(struct history *h, struct block *b);
// A read from start to end returned what is in data (one block). False: a violation, reported.
bool history_judge(struct history *h, uint64_t block, uint64_t start, uint64_t end,
		   const void *data);
// A write has ended with the outcome that is in v. False: a violation, reported.
bool history_judge_write(struct history *h, uint64_t block, struct value *v);
