// SPDX-License-Identifier: BSD-2-Clause
// NOP-Out and NOP-In. RFC 7143 11.18, 11.19. The connection's worker.
#pragma once

#include "target/iscsi/conn.h"

int nop_out(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs, const uint8_t *data,
	    struct err *e);
void nop_ping(struct conn *c);
void nop_window(struct conn *c); // announces that the closed window is open again
