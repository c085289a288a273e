// SPDX-License-Identifier: BSD-2-Clause
// The threads that serve I/O: CPU time, rounds of their event loops, payload copies.
#include "target/metrics/metrics.h"

#include <stddef.h>

// clang-format off
static const struct family cpu = { "farblock_worker_cpu_seconds", "counter", "seconds",
	"CPU time of a worker thread." };
static const struct family polled = { "farblock_worker_polled_seconds", "counter", "seconds",
	"Time that a worker polled without work; part of its CPU time." };

#define NAMED(field, name, unit, help)                                                             \
	{ { "farblock_" name, "counter", unit, help }, offsetof(struct worker_counters, field) }
#define ROW(field, name, unit, help) NAMED(field, "worker_" name, unit, help)
static const struct {
	struct family family;
	size_t offset;
} rows[] = {
	ROW(rounds, "rounds", NULL, "Rounds of the event loop of a worker."),
	ROW(sleeps, "sleeps", NULL, "Times a worker went to sleep because it had no work."),
	ROW(spins, "spins", NULL, "Times a worker polled before going to sleep."),
	ROW(polls, "polls", NULL, "Times a worker polled for a completion of its disks."),
	ROW(polls_missed, "polls_missed", NULL, "Times it came later than that."),
	ROW(payload_copies, "payload_copies", NULL, "Payload copies in memory."),
	ROW(payload_copy_bytes, "payload_copied_bytes", "bytes", "Payload bytes copied in memory."),
	NAMED(rdma_errors, "rdma_cq_errors", NULL,
	      "RDMA completions with an error, not counting those flushed by a close."),
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
	metric_family(out, &polled);
	for (unsigned w = 0; w < s->worker_count; w++) {
		snprintf(number, sizeof number, "%u", w);
		metric_fraction(out, &polled, labels, s->workers[w].counters.polled_ns, 1000000000);
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
