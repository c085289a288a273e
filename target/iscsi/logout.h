// SPDX-License-Identifier: BSD-2-Clause
// Logout. RFC 7143 11.14, 11.15. The connection's worker.
#pragma once

#include "target/iscsi/conn.h"

int logout_request(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		   const uint8_t *data, struct err *e);
