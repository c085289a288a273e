// SPDX-License-Identifier: BSD-2-Clause
// Common code of both iSER roles: parses and checks received messages, writes headers, reads and
// writes the private data of connect and accept. RFC 7145 9.
//
// Pure functions over the caller's bytes: any thread, nothing blocks, nothing allocates.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "transport/iscsi/pdu.h"
#include "transport/wire/iser.h"

// Memory of the initiator, as it advertises it for one direction of one command.
struct iser_tag {
	uint32_t stag;
	uint64_t base;
};

// A received message. Pointers go into it.
struct iser_msg {
	enum iser_opcode opcode;
	// ISER_CONTROL
	bool has_write, has_read;
	struct iser_tag write, read;
	struct iscsi_pdu pdu;
	const uint8_t *bhs, *ahs, *data; // ahs, data: NULL when their length is 0
	// ISER_HELLO and ISER_HELLO_REPLY
	bool is_refused;
	uint8_t version_max, version; // the minimum (Hello), the chosen one (HelloReply)
	uint16_t depth;
};

// Parses len bytes of a message: the header and, for the control type, the PDU, whose lengths must
// match len; up to 4 bytes of padding may follow. The content of the PDU is not checked: see
// iscsi_pdu_check(). -EPROTO.
int iser_msg_parse(struct iser_msg *ret, const uint8_t *msg, uint32_t len, struct err *e);

// Writes a control-type header; NULL: nothing is advertised for that direction.
void iser_hdr_put(uint8_t ret[ISER_HDR_LEN], const struct iser_tag *write,
		  const struct iser_tag *read);

// Writes a HelloReply that accepts version ISER_VERSION, or refuses the connection (REJ): then
// close it. reads_out: the target's ORD.
void iser_hello_reply_put(uint8_t ret[ISER_HDR_LEN], uint32_t reads_out, bool is_refused);

// Private data that declares whether the sender accepts (connect) or may send (accept)
// invalidations.
void iser_cm_put(uint8_t ret[ISER_CM_LEN], bool can_invalidate);

// Whether the private data of a connect or an accept, len bytes (0: none), allows invalidations.
// Reserved bytes are ignored.
bool iser_cm_can_invalidate(const uint8_t *data, uint32_t len);
