// SPDX-License-Identifier: BSD-2-Clause
// iWARP on the wire: MPA startup frames and FPDUs, DDP segments, RDMAP messages. Constants and
// layouts only; all multi-byte fields are big-endian byte arrays to be read and written with be.h.
// RFC 5044 (MPA), RFC 6581 (MPA revision 2), RFC 5041 (DDP), RFC 5040 (RDMAP).
#pragma once

#include <stddef.h>
#include <stdint.h>

// --- MPA startup [RFC 5044 7.1.1, RFC 6581 6] ---

enum {
	MPA_KEY_LEN = 16,
	MPA_STARTUP_LEN = 20,  // before the private data
	MPA_PRIVATE_MAX = 512, // the enhanced word included
	MPA_ENHANCED_LEN = 4,  // in front of the private data, with MPA_S
	MPA_FIRST_BYTE = 'M',  // of a request: distinguishes iWARP from iSCSI, whose login begins
			       // with 0x43 or 0x03
	MPA_NO_NEGOTIATION = 0x3fff, // as IRD or ORD [RFC 6581 9.1]
	MPA_DEPTH_MASK = 0x3fff,
};
#define MPA_KEY_REQUEST "MPA ID Req Frame"
#define MPA_KEY_REPLY	"MPA ID Rep Frame"

// Flags of a startup frame.
enum {
	MPA_M = 0x80, // the sender wants to receive markers
	MPA_C = 0x40, // CRC in both directions
	MPA_R = 0x20, // reply: rejected
	MPA_S = 0x10, // revision 2: enhanced data [RFC 6581 6]
};

// The two halves of the enhanced word, above IRD and ORD [RFC 6581 9].
enum {
	MPA_A = 0x8000, // IRD half: peer-to-peer, the active side sends the first frame
	MPA_B = 0x4000, // IRD half: it may be an empty send
	MPA_W = 0x8000, // ORD half (C in the RFC): ... an empty write
	MPA_D = 0x4000, // ORD half: ... an empty read
};

struct mpa_startup {
	uint8_t key[MPA_KEY_LEN];
	uint8_t flags;
	uint8_t revision;
	uint8_t private_len[2];
};
_Static_assert(sizeof(struct mpa_startup) == MPA_STARTUP_LEN, "MPA startup frame");

struct mpa_enhanced {
	uint8_t ird[2];
	uint8_t ord[2];
};
_Static_assert(sizeof(struct mpa_enhanced) == MPA_ENHANCED_LEN, "MPA enhanced data");

// --- FPDU: length, ULPDU, pad to 4, CRC32C over all that [RFC 5044 4.1] ---

enum {
	MPA_LENGTH_LEN = 2,
	MPA_CRC_LEN = 4,
	MPA_ULPDU_MAX = 65535,
	MPA_TAIL_MAX = 3 + MPA_CRC_LEN,
};

// --- DDP and RDMAP headers, after the MPA length [RFC 5041 4, RFC 5040 4] ---

// Byte 0 of a segment.
enum {
	DDP_T = 0x80, // tagged
	DDP_L = 0x40, // last of its message
	DDP_VERSION = 0x01,
	DDP_VERSION_MASK = 0x03,
};

// Byte 1.
enum {
	RDMAP_VERSION = 0x40,
	RDMAP_VERSION_MASK = 0xc0,
	RDMAP_OPCODE_MASK = 0x0f,
};

enum rdmap_opcode {
	RDMAP_WRITE = 0x0,
	RDMAP_READ_REQUEST = 0x1,
	RDMAP_READ_RESPONSE = 0x2,
	RDMAP_SEND = 0x3,
	RDMAP_SEND_INVALIDATE = 0x4,
	RDMAP_SEND_SE = 0x5,
	RDMAP_SEND_SE_INVALIDATE = 0x6,
	RDMAP_TERMINATE = 0x7,
};

enum ddp_queue {
	DDP_QN_SEND = 0,
	DDP_QN_READ_REQUEST = 1,
	DDP_QN_TERMINATE = 2,
};

struct ddp_common {
	uint8_t ulpdu_len[2];
	uint8_t ddp;
	uint8_t rdmap;
};

struct ddp_tagged {
	struct ddp_common c;
	uint8_t stag[4];
	uint8_t to[8];
};
_Static_assert(sizeof(struct ddp_tagged) == 16, "tagged segment");

struct ddp_untagged {
	struct ddp_common c;
	uint8_t invalidate[4]; // STag of a send with invalidate, else reserved
	uint8_t qn[4];
	uint8_t msn[4];
	uint8_t mo[4];
};
_Static_assert(sizeof(struct ddp_untagged) == 20, "untagged segment");

struct rdmap_read_request {
	struct ddp_untagged u;
	uint8_t sink_stag[4];
	uint8_t sink_to[8];
	uint8_t len[4];
	uint8_t source_stag[4];
	uint8_t source_to[8];
};
_Static_assert(sizeof(struct rdmap_read_request) == 48, "read request");
_Static_assert(offsetof(struct rdmap_read_request, source_to) == 40, "read request: source");

enum {
	DDP_TAGGED_LEN = 14, // of a header without the MPA length, as quoted by a Terminate
	DDP_UNTAGGED_LEN = 18,
	RDMAP_READ_REQUEST_LEN = 28, // after the untagged header
	DDP_HEADER_MAX = 48,	     // of any FPDU, the MPA length included
};

// --- Terminate [RFC 5040 4.8, RFC 5041 8, RFC 5044 8] ---

enum {
	TERM_CONTROL_LEN = 4,
	TERM_MAX = TERM_CONTROL_LEN + 2 + DDP_UNTAGGED_LEN + RDMAP_READ_REQUEST_LEN,
};

struct rdmap_terminate {
	uint8_t layer_type; // layer in the upper four bits
	uint8_t code;
	uint8_t quotes; // TERM_M, TERM_D, TERM_R: what follows
	uint8_t reserved;
};
_Static_assert(sizeof(struct rdmap_terminate) == TERM_CONTROL_LEN, "terminate control");

enum {
	TERM_M = 0x80, // the length of the DDP segment
	TERM_D = 0x40, // its DDP header
	TERM_R = 0x20, // its RDMAP header, of a read request
};

// Layer, error type and code as one number, 0xLTCC: what the first two bytes hold.
enum term_code {
	TERM_LOCAL_CATASTROPHIC = 0x0000,
	TERM_RDMAP_STAG = 0x0100, // remote protection
	TERM_RDMAP_BOUNDS = 0x0101,
	TERM_RDMAP_ACCESS = 0x0102,
	TERM_RDMAP_STREAM = 0x0103, // STag of another stream
	TERM_RDMAP_TO_WRAP = 0x0104,
	TERM_RDMAP_INVALIDATE = 0x0109, // STag cannot be invalidated
	TERM_RDMAP_PROTECTION = 0x01ff,
	TERM_RDMAP_VERSION = 0x0205, // remote operation
	TERM_RDMAP_OPCODE = 0x0206,
	TERM_RDMAP_CATASTROPHIC = 0x0207, // local to this stream
	TERM_RDMAP_CATASTROPHIC_GLOBAL = 0x0208,
	TERM_RDMAP_INVALIDATE_STAG = 0x0209,
	TERM_RDMAP_UNSPECIFIED = 0x02ff,
	TERM_DDP_CATASTROPHIC = 0x1000,
	TERM_DDP_STAG = 0x1100, // tagged buffer
	TERM_DDP_BOUNDS = 0x1101,
	TERM_DDP_STREAM = 0x1102,
	TERM_DDP_TO_WRAP = 0x1103,
	TERM_DDP_TAGGED_VERSION = 0x1104,
	TERM_DDP_QN = 0x1201, // untagged buffer
	TERM_DDP_NO_BUFFER = 0x1202,
	TERM_DDP_MSN = 0x1203,
	TERM_DDP_MO = 0x1204,
	TERM_DDP_TOO_LONG = 0x1205,
	TERM_DDP_UNTAGGED_VERSION = 0x1206,
	TERM_MPA_CLOSED = 0x2001,
	TERM_MPA_CRC = 0x2002,
	TERM_MPA_LENGTH = 0x2003, // marker and length mismatch
	TERM_MPA_STARTUP = 0x2004,
	TERM_MPA_CATASTROPHIC = 0x2005, // RFC 6581 8
	TERM_MPA_IRD = 0x2006,		// insufficient IRD
	TERM_MPA_NO_RTR = 0x2007,	// no matching first frame
};
