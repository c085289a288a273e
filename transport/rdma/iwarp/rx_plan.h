// SPDX-License-Identifier: BSD-2-Clause
// Private to software iWARP: plans one receive. On the connection's worker; nothing blocks.
#pragma once

#include "transport/rdma/iwarp/iw_priv.h"

enum {
	IW_RX_AHEAD = 16, // of the shortest header
	IW_RX_FIRST = 4,  // determines the header
	IW_RX_IOV = 64,
};

struct iw_plan {
	struct iovec iov[IW_RX_IOV + 3];
	bool is_scratch[IW_RX_IOV + 3]; // of each: read from the scratch, not in place
	unsigned count;
	uint32_t header;   // bytes received into rx_header, including the first
	uint32_t in_place; // bytes received into the sink of the current segment
	uint32_t asked;
	uint8_t *scratch; // the rest of it
};

// Plans the next receive from the state of the connection.
void iw_plan_make(struct iw_qp *qp, struct iw_plan *plan);
// The memory may have been concealed since the segment began: the rest is discarded.
void iw_check_sink(struct iw_qp *qp);
