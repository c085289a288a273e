// SPDX-License-Identifier: BSD-2-Clause
// See histogram.h.
#include "initiator/bench/histogram.h"

enum { STEP_BITS = HISTOGRAM_STEP_BITS, STEPS = 1 << STEP_BITS };

static unsigned bucket(uint64_t ns)
{
	if (ns < STEPS)
		return (unsigned)ns;
	unsigned shift = 63 - (unsigned)__builtin_clzll(ns) - STEP_BITS;
	unsigned i = ((shift + 1) << STEP_BITS) + (unsigned)(ns >> shift) - STEPS;
	return i < HISTOGRAM_BUCKETS ? i : HISTOGRAM_BUCKETS - 1;
}

static double bucket_us(unsigned i)
{
	if (i < STEPS)
		return i / 1e3;
	unsigned shift = (i >> STEP_BITS) - 1;
	return (double)((uint64_t)(STEPS + (i & (STEPS - 1))) << shift) / 1e3;
}

void histogram_add(struct histogram *h, uint64_t ns)
{
	h->count++;
	h->buckets[bucket(ns)]++;
}

double histogram_us(const struct histogram *h, double share)
{
	uint64_t rank = (uint64_t)((double)h->count * share), seen = 0;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->buckets[i];
		if (seen > rank)
			return bucket_us(i);
	}
	return 0;
}
