// SPDX-License-Identifier: BSD-2-Clause
// What the peers of a worker make it keep, see peer_memory.h.
#include "core/peer_memory.h"

#define TRIM_MIN (4u << 20) // what is less stays with the allocator
#define LEAST	 16	    // of less, one part in so many while twice as much as all is kept

static const struct {
	uint64_t all;	    // of all connections
	uint64_t one, less; // of one, and of one while all is exceeded
} limits[PEER_MEMORY_KINDS] = {
	[PEER_ANSWERS] = {16u << 20,  4u << 20,	64u << 10 },
	[PEER_DATA_OUT] = { 64u << 20, 16u << 20, 256u << 10},
};

static _Thread_local struct {
	uint64_t bytes[PEER_MEMORY_KINDS], sum, peak;
} kept;

void peer_memory_take(enum peer_memory kind, uint64_t bytes)
{
	kept.bytes[kind] += bytes;
	kept.sum += bytes;
	if (kept.sum > kept.peak)
		kept.peak = kept.sum;
}

void peer_memory_give(enum peer_memory kind, uint64_t bytes)
{
	kept.bytes[kind] -= bytes;
	kept.sum -= bytes;
}

bool peer_memory_is_short(enum peer_memory kind)
{
	return kept.bytes[kind] > limits[kind].all;
}

uint64_t peer_memory_limit(enum peer_memory kind)
{
	uint64_t all = limits[kind].all, less = limits[kind].less;
	if (kept.bytes[kind] <= all)
		return limits[kind].one;
	return kept.bytes[kind] <= 2 * all ? less : less / LEAST;
}

bool peer_memory_was_freed(void)
{
	if (kept.peak < TRIM_MIN || kept.sum > kept.peak / 4)
		return false;
	kept.peak = kept.sum;
	return true;
}
