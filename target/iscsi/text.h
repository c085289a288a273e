// SPDX-License-Identifier: BSD-2-Clause
// Text Requests. RFC 7143 11.10, 11.11, appendix C. The connection's worker.
#pragma once

#include "target/iscsi/conn.h"

int text_request(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		 const uint8_t *data, struct err *e);
// A PDU with DM_WANTS_SENT was sent: whether it was a Text Response.
bool text_sent(struct conn *c);
void text_drop(struct conn *c);		      // idempotent
void text_tick(struct conn *c, uint64_t now); // ends exchanges that the peer does not continue
