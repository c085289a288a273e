// SPDX-License-Identifier: BSD-2-Clause
// iSER on the wire: the header in front of every PDU, Hello and HelloReply, and the private data
// of the connection manager's messages. Constants and layouts only; multi-byte fields are
// big-endian byte arrays to be read and written with be.h. RFC 7145 9; the private data is that of
// Linux, used by all.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	ISER_HDR_LEN = 28,
	ISER_CM_LEN = 4,
	ISER_VERSION = 10,    // of Hello and HelloReply [RFC 7145 9.3]
	ISER_DATA_MAX = 8192, // bytes of data of one PDU that every peer accepts during login, and
			      // targets afterwards
	// Bytes of data of one PDU that every initiator accepts after login, whatever it declares:
	// the size of Linux's and libiscsi's receive buffers.
	ISER_FFP_DATA_MAX = 128,
	ISER_SENSE_MAX = ISER_FFP_DATA_MAX - 2, // after SenseLength
};

// High nibble of byte 0.
enum iser_opcode {
	ISER_CONTROL = 0x10, // a PDU follows
	ISER_HELLO = 0x20,
	ISER_HELLO_REPLY = 0x30,
	ISER_OPCODE_MASK = 0xf0,
};
// Low nibble of byte 0.
enum {
	ISER_WSV = 0x08, // control: Write STag and Base Offset are valid
	ISER_RSV = 0x04, // control: Read STag and Base Offset are valid
	ISER_REJ = 0x01, // HelloReply: refused
};

// Control-type header [RFC 7145 9.2].
struct iser_hdr {
	uint8_t opcode;	       // 0
	uint8_t rsvd[3];       // 1
	uint8_t write_stag[4]; // 4
	uint8_t write_base[8]; // 8
	uint8_t read_stag[4];  // 16
	uint8_t read_base[8];  // 20
};
_Static_assert(sizeof(struct iser_hdr) == ISER_HDR_LEN, "iser_hdr");
_Static_assert(offsetof(struct iser_hdr, write_stag) == 4, "iser_hdr.write_stag");
_Static_assert(offsetof(struct iser_hdr, write_base) == 8, "iser_hdr.write_base");
_Static_assert(offsetof(struct iser_hdr, read_stag) == 16, "iser_hdr.read_stag");
_Static_assert(offsetof(struct iser_hdr, read_base) == 20, "iser_hdr.read_base");

// Hello and HelloReply [RFC 7145 9.3, 9.4].
struct iser_hello {
	uint8_t opcode;	  // 0
	uint8_t versions; // 1: Hello: maximum << 4 | minimum, HelloReply: maximum << 4 | chosen
	uint8_t depth[2]; // 2: Hello: the initiator's IRD, HelloReply: the target's ORD
	uint8_t rsvd[24]; // 4
};
_Static_assert(sizeof(struct iser_hello) == ISER_HDR_LEN, "iser_hello");
_Static_assert(offsetof(struct iser_hello, depth) == 2, "iser_hello.depth");

// Private data of a connect and of its answer: byte 0 has the flags, the rest is 0.
enum {
	ISER_CM_NO_ZBVA = 0x80,	 // base offsets are addresses, not counted from 0
	ISER_CM_NO_INVAL = 0x40, // the sender does not accept, or does not send, send with
				 // invalidate
};
