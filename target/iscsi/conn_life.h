// SPDX-License-Identifier: BSD-2-Clause
// Begin and end of a connection. The connection's worker.
#pragma once

#include "target/iscsi/conn.h"

struct rnic_request;

// fabric_ops.accept
void conn_accept(struct worker *w, int fd, struct rnic_request *q, struct portal *portal);
extern const struct dm_up conn_dm_up;
