// SPDX-License-Identifier: BSD-2-Clause
// Counters that one thread writes and any thread reads: plain words, never torn. counter_add() is
// an ordinary addition, not an atomic read-modify-write.
#pragma once

#include <stdint.h>

// The owner's thread only.
static inline void counter_add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

// Any thread.
static inline uint64_t counter_get(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}
