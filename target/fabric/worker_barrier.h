// SPDX-License-Identifier: BSD-2-Clause
// A barrier of all workers: until each has handled what its sockets had received. An initiator that
// closes a connection and logs in again thus finds its old nexus gone, with its reservations and
// preventions, whichever worker served it.
#pragma once

#include "core/worker.h"

// Posts done to w when every worker has handled what its sockets had received before the call, and
// has freed the nexuses of idle sessions that ended thereby. Any worker; -ENOMEM: done is not
// posted.
int worker_barrier(struct worker *w, struct msg *done);
