// SPDX-License-Identifier: BSD-2-Clause
// ROD tokens (SPC-4 5.16.6, 7.8.17): short names for ranges of blocks, created by POPULATE TOKEN.
//
// A token represents the data at its creation (ROD type 0080 0000h, point in time copy - default).
// There is no snapshot: a write to any of its blocks, by any path, revokes the token before the
// blocks change, and a copy in progress checks this after each read. So WRITE USING TOKEN writes
// that data or fails.
//
// Tokens have 512 bytes, nearly all of them random: knowing a token is the right to use it, but
// only through a session whose LUN map contains the source. The process has one registry, under a
// mutex; with lu->rod_tokens 0 the write path does not take it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "target/scsi/copy/results.h"

enum {
	ROD_TYPE_POINT_IN_TIME = 0x00800000,
	ROD_TYPE_CHANGE_VULNERABLE = 0x00800001,
	ROD_TYPE_ZERO = 0xffff0001, // block device zero: a well-known token
};

#define ROD_RANGES_MAX	  64
#define ROD_TIMEOUT_SECS  60		 // default inactivity timeout
#define ROD_TIMEOUT_MAX	  600		 // longest
#define ROD_BYTES_MAX	  (256ull << 20) // one token or one transfer
#define ROD_BYTES_OPTIMAL (64ull << 20)

struct rod_range {
	uint64_t lba, blocks;
};

// A token's ranges in blocks of the source LU.
struct rod_token {
	int refs; // atomic
	struct list link;
	uint8_t bytes[ROD_TOKEN_LEN];
	uint8_t state;	  // enum rod_state; atomic
	struct lu *lu;	  // no reference: rod_tokens_drop() is called before the LU is freed
	uint32_t lu_id;	  // of the source
	uint64_t timeout; // ns of inactivity
	uint64_t expires; // clock_ns()
	uint64_t blocks;  // sum of the ranges
	uint32_t nranges;
	struct rod_range ranges[];
};

enum rod_state { ROD_GOOD, ROD_REVOKED, ROD_EXPIRED, ROD_DELETED };

// Registers a token for ranges of lu, valid at once; writes revoke it from now on. The caller gets
// a reference. NULL: no memory or no random numbers.
struct rod_token *rod_token_new(struct lu *lu, uint32_t type, const struct rod_range *ranges,
				uint32_t nranges, uint32_t timeout_secs);
void rod_token_put(struct rod_token *t); // NULL is fine

// Looks up bytes and restarts the timeout. 0 with a reference in *ret, or the SENSE() code of the
// error. Any thread.
uint32_t rod_token_find(struct rod_token **ret, const uint8_t bytes[ROD_TOKEN_LEN]);
bool rod_token_is_good(const struct rod_token *t);
// Whether it covers any of [lba, lba + blocks). Any thread.
bool rod_token_covers(const struct rod_token *t, uint64_t lba, uint64_t blocks);
void rod_token_delete(struct rod_token *t);

// [lba, lba + blocks) is about to change: revokes the tokens that cover any of it. By
// lu_note_write(). Any worker.
void rod_tokens_revoke(struct lu *lu, uint64_t lba, uint64_t blocks);
// Drops all tokens of lu. Control thread.
void rod_tokens_drop(struct lu *lu);
