// SPDX-License-Identifier: BSD-2-Clause
// The mover of a new connection: chosen by the peer's first byte, or over an RDMA request. The
// connection's worker.
#pragma once

#include "target/iscsi/conn.h"

struct rnic_request;

// Creates the mover of c: chosen by the peer's first byte, now or when it arrives, or over q's
// RDMA. Takes ownership of fd or q, on errors too; then c->dm may be set and must be freed.
int mover_begin(struct conn *c, int fd, struct err *e);
int mover_begin_rdma(struct conn *c, struct rnic_request *q, struct err *e);
