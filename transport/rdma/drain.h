// SPDX-License-Identifier: BSD-2-Clause
// Aborted commands whose RDMA is in flight, and the task management responses that wait for them:
// only when the last has ended may the initiator reuse its memory. What the movers of a target
// share; for SRP, the channels of a nexus do. Commands and responses of one worker.
#pragma once

#include <stdbool.h>

#include "core/list.h"

struct rnic_drain {
	unsigned draining; // aborted commands with RDMA in flight
	struct list held;  // struct rnic_held
	unsigned held_count;
	struct list members; // what shares it; for its owners, empty at first
};

// A response that waits; embedded by its owner, which zeroes it before the first use.
struct rnic_held {
	struct list link;
	void (*send)(struct rnic_held *h); // no command drains any more; not linked any more
};

void rnic_drain_init(struct rnic_drain *d);
void rnic_drain_begin(struct rnic_drain *d); // one more command drains
void rnic_drain_end(struct rnic_drain *d);   // one less: after the last one what is held is sent
// Sends h at once if nothing drains; else keeps it until then. False: kept.
bool rnic_drain_send(struct rnic_drain *d, struct rnic_held *h);
// Forgets h, if it is held: its connection is closed.
void rnic_drain_forget(struct rnic_drain *d, struct rnic_held *h);
