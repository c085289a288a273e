// SPDX-License-Identifier: BSD-2-Clause
// Copies by tokens (ODX): the limits that a unit declares, parameter lists of POPULATE TOKEN and
// WRITE USING TOKEN built, the answer to RECEIVE ROD TOKEN INFORMATION parsed. Pure functions, any
// thread. SPC-4 6.21, 7.8.17; SBC-3 5.7, 5.22, 5.37, 6.6.8.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	TOKEN_LEN = 512,
	TOKEN_POPULATE_LEN = 16 + 16, // lists with one range
	TOKEN_WRITE_LEN = 536 + 16,
};

struct token_limits {
	uint64_t blocks, optimal; // of a token; 0: no limit reported
	bool can_populate, can_write;
};
// VPD page 8Fh as received. False: it declares no tokens.
bool token_limits_parse(struct token_limits *ret, const uint8_t *page, uint32_t len);

void token_populate_list(uint8_t ret[TOKEN_POPULATE_LEN], uint64_t lba, uint32_t blocks);
// Writes the token's data, from its begin; the token ends with it.
void token_write_list(uint8_t ret[TOKEN_WRITE_LEN], const uint8_t token[TOKEN_LEN], uint64_t lba,
		      uint32_t blocks);

struct token_info {
	bool is_running;   // ask again after delay_ms
	bool is_done;	   // else it failed
	uint32_t delay_ms; // 0: not told
	bool has_blocks;
	uint64_t blocks; // so far
	bool has_token;
	uint8_t token[TOKEN_LEN];
	const uint8_t *sense; // within the answer
	uint32_t sense_len;
};
// False: shorter than its header, or not of the service action (10h, 11h).
bool token_info_parse(struct token_info *ret, const uint8_t *data, uint32_t len, uint8_t action);
