// SPDX-License-Identifier: BSD-2-Clause
// Statistics of sessions: commands by kind with bytes and latency, payload copies; of connections:
// PDUs and bytes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "target/scsi/lu_counters.h"

struct session_traffic {
	struct lu_counters scsi;
	struct buf_copies copied;
};

// Adds more to sum: both consist of words.
static inline void traffic_add(struct session_traffic *sum, const struct session_traffic *more)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)more;
	for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
		to[i] += from[i];
}

// What a connection has transferred so far.
struct fabric_traffic {
	uint64_t pdus_received, pdus_sent, bytes_received, bytes_sent, digest_errors;
};

struct fabric_counters;
// Adds to k, a worker's, what a connection has transferred since *counted was its traffic, and
// brings *counted up to date. That worker; each second, and before the connection is freed.
void fabric_count_traffic(struct fabric_counters *k, struct fabric_traffic *counted,
			  const struct fabric_traffic *now);
