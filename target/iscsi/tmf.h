// SPDX-License-Identifier: BSD-2-Clause
// Task management requests. RFC 7143 11.5, 11.6. The connection's worker.
#pragma once

#include "target/iscsi/conn.h"

int tmf_request(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		const uint8_t *data, struct err *e);
