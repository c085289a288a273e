// SPDX-License-Identifier: BSD-2-Clause
// The worker of an initiator's address: all channels of a nexus belong to one worker, and which
// nexus a connection is for is known only after the choice. Any thread; a short mutex, at connects
// and ends of channels.
#pragma once

#include <stdint.h>

#include "core/worker.h"
#include "transport/tcp/addr.h"

// A worker that was chosen stays chosen for this time, until its first channel is there.
#define PLACEMENT_NS (20 * UINT64_C(1000000000))
// Addresses noted that have no channel yet. Those of others get the quietest worker, unnoted: their
// second channel may be refused.
#define PLACEMENT_MAX 512

// Forgets all; before the first.
void placement_init(void);
// The worker for a connection from peer: the one that has channels of the address, or was chosen
// lately; else quietest, which is noted.
struct worker *placement_choose(const struct tcp_addr *peer, struct worker *quietest,
				uint64_t now_ns);
// A channel of peer has begun on w; it has ended.
void placement_enter(const struct tcp_addr *peer, struct worker *w);
void placement_leave(const struct tcp_addr *peer, struct worker *w);
