// SPDX-License-Identifier: BSD-2-Clause
// What a connection owes by now, and what it loses for it: checked every second. The worker's
// thread.
#pragma once

#include "target/iscsi/conn.h"

struct iscsi_worker;

// The worker's first connection has come, and its last one has gone.
void timeouts_start(struct iscsi_worker *iw);
void timeouts_stop(struct iscsi_worker *iw);
// Ends c if at that time it owes something for too long, as every second.
void timeouts_check(struct conn *c, uint64_t now);
