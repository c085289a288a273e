// SPDX-License-Identifier: BSD-2-Clause
// Headers of FPDUs: DDP segments of RDMAP messages, and Terminate. Pure functions; any thread,
// nothing blocks. RFC 5044 4.1, RFC 5041 4, RFC 5040 4.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "transport/wire/iwarp.h"

// One segment's header, decoded.
struct ddp_segment {
	uint8_t opcode; // enum rdmap_opcode
	bool is_tagged, is_last;
	uint32_t header_len; // with the MPA length
	uint32_t len;	     // of the payload
	uint32_t tail_len;   // pad and CRC
	// tagged
	uint32_t stag;
	uint64_t to;
	// untagged
	uint32_t invalidate, qn, msn, mo;
	// of a read request
	uint32_t sink_stag, source_stag, read_len;
	uint64_t sink_to, source_to;
};

// Parses the first four bytes: fills opcode, is_tagged, is_last, the lengths. Returns 0, or the
// enum term_code of an error.
unsigned ddp_begin(const uint8_t *head, struct ddp_segment *ret);

// Decodes the rest, header_len bytes in all. Returns 0, or the enum term_code.
unsigned ddp_decode(const uint8_t *header, struct ddp_segment *s);

// These write a header and return its length. len: of the payload.
uint32_t ddp_put_tagged(uint8_t *out, enum rdmap_opcode op, bool is_last, uint32_t len,
			uint32_t stag, uint64_t to);
uint32_t ddp_put_untagged(uint8_t *out, enum rdmap_opcode op, bool is_last, uint32_t len,
			  uint32_t invalidate, enum ddp_queue qn, uint32_t msn, uint32_t mo);
uint32_t ddp_put_read_request(uint8_t *out, uint32_t msn, uint32_t sink_stag, uint64_t sink_to,
			      uint32_t len, uint32_t source_stag, uint64_t source_to);

// Writes a Terminate message without its tail; quotes the segment with this header, NULL: none.
// Returns its length, at most TERM_FRAME_MAX.
enum { TERM_FRAME_MAX = 20 + TERM_MAX };
uint32_t ddp_put_terminate(uint8_t *out, unsigned code, const uint8_t *header,
			   const struct ddp_segment *s);

// Decodes the TERM_CONTROL_LEN bytes of a peer's Terminate to an enum term_code, and whether it
// concerns a read request of ours. Linux's siw (6.1 and 6.12, on little-endian machines) fills each
// byte from the other end, which its quotes reveal.
unsigned term_decode(const uint8_t *control, bool *ret_is_read);

// "RDMAP: access rights violated" and the like, for any code.
const char *term_text(unsigned code);
// Whether the code means that a key, its bounds or its rights did not permit an access.
bool term_is_access(unsigned code);
