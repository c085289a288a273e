// SPDX-License-Identifier: BSD-2-Clause
// Limits of EXTENDED COPY(LID1), in one place for the parser, RECEIVE COPY RESULTS and VPD page 8Fh
// (SPC-4 6.4, 6.20, 7.8.17). Pure functions.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct nexus;
struct nexus_lun;

enum {
	XCOPY_CSCD_MAX = 8,	// CSCD descriptors
	XCOPY_SEGMENT_MAX = 32, // segment descriptors
	XCOPY_LIST_MAX = 2048,	// bytes of both lists together
	XCOPY_CSCD_ID = 0xe4,	// identification descriptor
	XCOPY_BLOCK_TO_BLOCK = 0x02,
	XCOPY_LIST_HEADER = 16,
	XCOPY_CSCD_LEN = 32,
	XCOPY_SEGMENT_LEN = 28,
};

enum xcopy_usage { XCOPY_HOLD = 0, XCOPY_DISCARD = 2, XCOPY_NO_LIST_ID = 3 };

struct xcopy_segment {
	bool counts_target; // DC: blocks are the destination's
	uint16_t from, to;  // indexes of CSCD descriptors
	uint16_t blocks;
	uint64_t from_lba, to_lba;
};

struct xcopy_request {
	uint8_t list_id;
	uint8_t usage; // enum xcopy_usage
	uint32_t ncscds, nsegments;
	const uint8_t *cscds; // into the list
	struct xcopy_segment segments[XCOPY_SEGMENT_MAX];
};

// Parses a parameter list of len bytes. 0 or a SENSE() code; *ret_field is then the invalid byte,
// -1: none.
uint32_t xcopy_parse(struct xcopy_request *ret, const uint8_t *list, uint32_t len, int *ret_field);

// The LUN of n that CSCD descriptor d (32 bytes) identifies, or NULL. Only n's LUN map is searched:
// copies cannot access more than the session.
struct nexus_lun *xcopy_find_lun(const struct nexus *n, const uint8_t *d);
