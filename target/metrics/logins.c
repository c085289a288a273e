// SPDX-License-Identifier: BSD-2-Clause
// Logins by result, connections, and network traffic.
#include "target/metrics/metrics.h"

#include <stddef.h>

// clang-format off
static const struct family logins = { "farblock_logins", "counter", NULL,
	"Logins by result: ok, or the reason for refusal." };
// clang-format on

static const struct {
	const char *result;
	size_t offset; // in struct fabric_counters
} results[] = {
	{"ok",	offsetof(struct fabric_counters, logins_ok)    },
	{ "auth",	  offsetof(struct fabric_counters, failed_auth)	},
	{ "acl",	 offsetof(struct fabric_counters, failed_acl)   },
	{ "target", offsetof(struct fabric_counters, failed_target)},
	{ "other",  offsetof(struct fabric_counters, failed_other) },
};

#define ROW(field, name, unit, help)                                                               \
	{                                                                                          \
		{ "farblock_" name, "counter", unit, help },                                       \
			offsetof(struct fabric_counters, field)                                    \
	}

// clang-format off
static const struct {
	struct family family;
	size_t offset;
} rows[] = {
	ROW(logins_timed_out, "logins_timed_out", NULL, "Logins that timed out."),
	ROW(connections_accepted, "connections_accepted", NULL, "Connections accepted."),
	ROW(connections_refused, "connections_refused", NULL, "Connections refused because of a limit."),
	ROW(connections_closed_protocol_error, "connections_closed_protocol_error", NULL,
	    "Connections closed because of a protocol error of the peer."),
	ROW(digest_errors, "digest_errors", NULL, "Digest errors."),
	ROW(rejects_sent, "rejects_sent", NULL, "Reject PDUs sent."),
	ROW(bytes_received, "network_received_bytes", "bytes", "Bytes received."),
	ROW(bytes_sent, "network_sent_bytes", "bytes", "Bytes sent."),
};
// clang-format on

static uint64_t at(const struct fabric_counters *k, size_t offset)
{
	return *(const uint64_t *)((const char *)k + offset);
}

void metrics_logins(FILE *out, const struct snapshot *s)
{
	metric_family(out, &logins);
	for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
		const struct label labels[] = {
			{"result", results[i].result },
			{ 0	    },
		};
		metric_number(out, &logins, labels, at(&s->logins, results[i].offset));
	}
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		metric_family(out, &rows[i].family);
		metric_number(out, &rows[i].family, NULL, at(&s->logins, rows[i].offset));
	}
}
