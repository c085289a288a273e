// SPDX-License-Identifier: BSD-2-Clause
// The clock of all workers. Any thread.
#include "core/worker_priv.h"

#include <time.h>

static uint64_t clock_read(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

uint64_t clock_ns(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

uint64_t clock_coarse_ns(void)
{
	return clock_read(CLOCK_MONOTONIC_COARSE);
}
