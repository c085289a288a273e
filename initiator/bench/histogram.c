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

double histogram_bucket_us(unsigned i)
{
	if (i < STEPS)
		return i / 1e3;
	unsigned shift = (i >> STEP_BITS) - 1;
	return (double)((uint64_t)(STEPS + (i & (STEPS - 1))) << shift) / 1e3;
}

void histogram_add(struct histogram *h, uint64_t ns)
{
	if (!h->count || ns < h->min_ns)
		h->min_ns = ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
	h->sum_ns += ns;
	h->count++;
	h->buckets[bucket(ns)]++;
}

void histogram_merge(struct histogram *h, const struct histogram *from)
{
	if (!from->count)
		return;
	if (!h->count || from->min_ns < h->min_ns)
		h->min_ns = from->min_ns;
	if (from->max_ns > h->max_ns)
		h->max_ns = from->max_ns;
	h->sum_ns += from->sum_ns;
	h->count += from->count;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		h->buckets[i] += from->buckets[i];
}

double histogram_us(const struct histogram *h, double share)
{
	uint64_t rank = (uint64_t)((double)h->count * share), seen = 0;
	if (h->count && rank >= h->count)
		return (double)h->max_ns / 1e3;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->buckets[i];
		if (seen > rank) {
			// No bucket begins below the smallest one that was added.
			double us = histogram_bucket_us(i), min = (double)h->min_ns / 1e3;
			return us < min ? min : us;
		}
	}
	return 0;
}

double histogram_mean_us(const struct histogram *h)
{
	return h->count ? (double)h->sum_ns / (double)h->count / 1e3 : 0;
}
