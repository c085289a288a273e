// SPDX-License-Identifier: BSD-2-Clause
// Sessions: their number by target and transport, and the counters of each.
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "target/metrics/metrics.h"

// clang-format off
static const struct family sessions = { "farblock_sessions", "gauge", NULL,
	"Sessions logged in, not counting discovery sessions." };
static const struct family session = { "farblock_session", "info", NULL,
	"Session details; join on sid." };
static const struct family in_flight = { "farblock_session_commands_in_flight", "gauge", NULL,
	"SCSI commands in flight." };
static const struct family commands = { "farblock_session_commands", "counter", NULL,
	"SCSI commands completed for the session." };
static const struct family read_bytes = { "farblock_session_read_bytes", "counter", "bytes",
	"Bytes read by the session." };
static const struct family written_bytes = { "farblock_session_written_bytes", "counter", "bytes",
	"Bytes written by the session." };
static const struct family copied_bytes = { "farblock_session_payload_copied_bytes", "counter",
	"bytes", "Payload bytes copied in memory for the session." };
// clang-format on

enum { LABEL_SIZE = 16 };

// "iSER" of struct session_info is "iser" in a label.
static const char *transport_label(const char *transport, char out[LABEL_SIZE])
{
	size_t i = 0;
	for (; transport[i] && i < LABEL_SIZE - 1; i++)
		out[i] = (char)tolower((unsigned char)transport[i]);
	out[i] = 0;
	return out;
}

static uint64_t count_of(const struct snapshot *s, const char *target, const char *transport)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < s->session_count; i++)
		n += !s->sessions[i].is_discovery && !strcmp(s->sessions[i].target, target) &&
		     !strcmp(s->sessions[i].transport, transport);
	return n;
}

// A target without sessions reports 0, since alerts cannot see absent samples.
static void put_counts(FILE *out, const struct snapshot *s)
{
	metric_family(out, &sessions);
	for (unsigned i = 0; i < s->target_count; i++)
		for (const char *const *t = s->targets[i].fabric->session_transports; *t; t++) {
			char text[LABEL_SIZE];
			const struct label labels[] = {
				{"target",	    s->targets[i].name },
				{ "transport",		       transport_label(*t, text) },
				{ 0},
			};
			metric_number(out, &sessions, labels, count_of(s, s->targets[i].name, *t));
		}
}

static void put_session(FILE *out, const struct session_info *i)
{
	char sid[24], tpg[12], transport[LABEL_SIZE];
	const struct label labels[] = {
		{"sid",			 sid },
		{ "initiator",			       i->initiator },
		{ "target",i->target },
		{ "tpg",			 tpg },
		{ "peer",			    i->peer },
		{ "transport",      transport_label(i->transport, transport) },
		{ "carrier",			     i->carrier },
		{ "acl",			    i->is_dynamic_acl ? "dynamic" : "static" },
		{ 0},
	};
	snprintf(sid, sizeof sid, "%" PRIu64, i->id);
	snprintf(tpg, sizeof tpg, "%u", i->tpg);
	metric_info(out, &session, labels);
}

static void each(FILE *out, const struct snapshot *s, const struct family *f,
		 uint64_t (*get)(const struct session_info *i))
{
	metric_family(out, f);
	for (unsigned i = 0; i < s->session_count; i++) {
		char sid[24];
		const struct label labels[] = {
			{"sid", sid },
			{ 0   },
		};
		if (s->sessions[i].is_discovery)
			continue;
		snprintf(sid, sizeof sid, "%" PRIu64, s->sessions[i].id);
		metric_number(out, f, labels, get(&s->sessions[i]));
	}
}

static uint64_t get_in_flight(const struct session_info *i)
{
	return i->commands_in_flight;
}

static uint64_t get_commands(const struct session_info *i)
{
	uint64_t n = 0;
	for (int op = 0; op < LU_OP_MAX; op++)
		n += i->traffic.scsi.op[op].commands;
	return n;
}

static uint64_t get_read(const struct session_info *i)
{
	return i->traffic.scsi.op[LU_OP_READ].bytes;
}

static uint64_t get_written(const struct session_info *i)
{
	return i->traffic.scsi.op[LU_OP_WRITE].bytes;
}

static uint64_t get_copied(const struct session_info *i)
{
	return i->traffic.copied.bytes;
}

void metrics_sessions(FILE *out, const struct snapshot *s)
{
	put_counts(out, s);
	metric_family(out, &session);
	for (unsigned i = 0; i < s->session_count; i++)
		if (!s->sessions[i].is_discovery)
			put_session(out, &s->sessions[i]);
	each(out, s, &in_flight, get_in_flight);
	each(out, s, &commands, get_commands);
	each(out, s, &read_bytes, get_read);
	each(out, s, &written_bytes, get_written);
	each(out, s, &copied_bytes, get_copied);
}
