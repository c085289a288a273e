// SPDX-License-Identifier: BSD-2-Clause
// Control PDUs of full feature phase. RFC 7143 11.1. The connection's worker.
#pragma once

#include "target/iscsi/conn.h"

struct held_pdu;

// A PDU other than a SCSI command. Negative: close the connection for the reason in e.
int full_feature_pdu(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		     const uint8_t *data, struct err *e);
// conn.run_held: a held PDU whose turn has come.
void full_feature_held(struct conn *c, struct held_pdu *h);
