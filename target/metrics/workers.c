// SPDX-License-Identifier: BSD-2-Clause
// The threads that serve I/O: CPU time, rounds of their loops, payload they copied.
#include "target/metrics/metrics.h"

#include <stddef.h>

// clang-format off
static const struct family cpu = { "farblock_worker_cpu_seconds", "counter", "seconds",
	"CPU time of a worker's thread." };

#define NAMED(field, name, unit, help)                                                             \
	{ { "farblock_" name, "counter", unit, help }, offsetof(struct worker_counters, field) }
#define ROW(field, name, unit, help) NAMED(field, "worker_" name, unit, help)
static const struct {
	struct family family;
	size_t offset;
} rows[] = {
	ROW(rounds, "rounds", NULL, "Rounds of a worker's loop."),
	ROW(sleeps, "sleeps", NULL, "Times a worker slept for want of work."),
	ROW(spins, "spins", NULL, "Times a worker polled before it slept."),
	ROW(payload_copies, "payload_copies", NULL, "Copies of payload."),
	ROW(payload_copy_bytes, "payload_copied_bytes", "bytes", "Payload bytes that were copied."),
	NAMED(rdma_errors, "rdma_cq_errors", NULL,
	      "Completions of RDMA requests with an error, but those that a close has flushed."),
};
// clang-format on

void metrics_workers(FILE *out, const struct snapshot *s)
{
	char number[12];
	const struct label labels[] = {
		{"worker", number },
		{ 0	    },
	};
	metric_family(out, &cpu);
	for (unsigned w = 0; w < s->worker_count; w++) {
		snprintf(number, sizeof number, "%u", w);
		metric_fraction(out, &cpu, labels, s->workers[w].cpu_ns, 1000000000);
	}
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		metric_family(out, &rows[i].family);
		for (unsigned w = 0; w < s->worker_count; w++) {
			const char *k = (const char *)&s->workers[w].counters;
			snprintf(number, sizeof number, "%u", w);
			metric_number(out, &rows[i].family, labels,
				      *(const uint64_t *)(k + rows[i].offset));
		}
	}
}
