// SPDX-License-Identifier: BSD-2-Clause
// For fuzzers: bytes in memory of exactly their length, so that a byte too far is seen.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline void must(bool holds)
{
	if (!holds)
		abort();
}

static inline uint8_t *exact_copy(const uint8_t *data, size_t len)
{
	uint8_t *p = malloc(len ? len : 1);
	must(p);
	if (len)
		memcpy(p, data, len);
	return p;
}

// len bytes at p lie in the size bytes at whole.
static inline bool is_inside(const uint8_t *p, uint64_t len, const uint8_t *whole, size_t size)
{
	return p >= whole && p <= whole + size && len <= (uint64_t)(whole + size - p);
}
