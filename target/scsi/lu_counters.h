// SPDX-License-Identifier: BSD-2-Clause
// What a logical unit, or a nexus, counts of its commands.
#pragma once

#include <stdint.h>

// Latency histogram: bucket i counts commands that took less than 2^i us (the last: more).
#define LU_LATENCY_BUCKETS 24
enum lu_op { LU_OP_READ, LU_OP_WRITE, LU_OP_OTHER, LU_OP_MAX };
struct lu_counters {
	struct lu_op_counters {
		uint64_t commands, bytes, latency_sum_us;
		uint64_t latency[LU_LATENCY_BUCKETS];
	} op[LU_OP_MAX];
	uint64_t errors; // CHECK CONDITION other than unit attentions
	// Of a logical unit only: time that its commands were with the backstore, in rounds of the
	// worker as the latencies are. 0 for what moves in a RAM disk's own memory.
	uint64_t storage_ns;
};
