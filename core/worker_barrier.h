// SPDX-License-Identifier: BSD-2-Clause
// A barrier of all workers: until each has handled what its sockets had received. A peer that
// closes a connection and comes back thus finds the old one gone, whichever worker served it.
#pragma once

#include "core/worker.h"

// Posts done to w when every worker has handled what its sockets had received before the call, and
// what follows a close: it makes a few rounds. Any worker; does not block. -ENOMEM: done is not
// posted.
int worker_barrier(struct worker *w, struct msg *done);
