// SPDX-License-Identifier: BSD-2-Clause
// Parameter lists of POPULATE TOKEN and WRITE USING TOKEN (SBC-3 5.7, 5.37). Pure functions.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "target/scsi/copy/rod_token.h"

struct odx_request {
	bool is_immediate;
	bool has_type;	  // RTV: rod_type is requested
	bool deletes;	  // DEL_TKN
	uint32_t timeout; // s of inactivity; 0: default of the copy manager
	uint32_t rod_type;
	uint64_t offset; // blocks into the token's data
	uint8_t token[ROD_TOKEN_LEN];
	uint32_t nranges;
	uint64_t blocks; // sum
	struct rod_range ranges[ROD_RANGES_MAX];
};

// Parses len bytes. capacity: blocks of the LU, block_size its bytes. 0 or a SENSE() code;
// *ret_field is the invalid byte, -1: none.
uint32_t odx_parse_populate(struct odx_request *ret, const uint8_t *list, uint32_t len,
			    uint64_t capacity, uint32_t block_size, int *ret_field);
uint32_t odx_parse_write(struct odx_request *ret, const uint8_t *list, uint32_t len,
			 uint64_t capacity, uint32_t block_size, int *ret_field);
