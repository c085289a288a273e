// SPDX-License-Identifier: BSD-2-Clause
// Returns memory to the system that a worker's connections of one fabric have freed: the allocator
// keeps it, as fragments of the worker's arena. On the worker's thread; another does the work.
#pragma once

#include <stdbool.h>

#include "core/offload.h"

// Zero it before the first use.
struct memory_trim {
	struct offload job;
	bool is_running, is_wanted;
	unsigned most; // most connections at a tick, since few were there
};

// Every second, and when the last connection has ended: count connections are there. Starts the
// work if most of many have gone, or most of what peers made the worker keep (core/peer_memory.h).
void memory_trim_tick(struct memory_trim *t, unsigned count);
