// SPDX-License-Identifier: BSD-2-Clause
// Latencies in 32 steps per octave of nanoseconds: exact to 3 %, up to hours; count, smallest,
// largest and mean are exact. One thread at a time; nothing allocates.
#pragma once

#include <stdint.h>

enum { HISTOGRAM_STEP_BITS = 5, HISTOGRAM_BUCKETS = 48 << HISTOGRAM_STEP_BITS };

struct histogram { // zeroed: empty
	uint64_t count, sum_ns, min_ns, max_ns;
	uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *h, uint64_t ns);
// Adds all of from.
void histogram_merge(struct histogram *h, const struct histogram *from);
// The latency in us that this share (0 to 1) of the commands did not exceed; 0: none was added.
double histogram_us(const struct histogram *h, double share);
// us, 0: none was added.
double histogram_mean_us(const struct histogram *h);
// The lower end of a bucket in us; bucket HISTOGRAM_BUCKETS is the end of the last one.
double histogram_bucket_us(unsigned bucket);
