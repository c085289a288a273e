// SPDX-License-Identifier: BSD-2-Clause
#include "target/srp/describe.h"

#include "core/attr.h"
#include "target/srp/session.h"
#include "transport/rdma/rnic.h"

// Its channels, added up.
struct sums {
	unsigned channels, commands;
	uint32_t window;
	uint64_t tx_since_ns;
	struct rnic *rnic; // of the first
	struct buf_copies copied;
};

static void sum_channels(const struct srp_session *s, struct sums *ret)
{
	*ret = (struct sums){ .copied = s->copied };
	list_for_each (it, (struct list *)&s->channels) {
		const struct session_channel *c = channel_of(it);
		struct srp_channel_info k;
		srp_channel_info(c->ch, &k);
		ret->copied.count += k.copied.count;
		ret->copied.bytes += k.copied.bytes;
		if (c->is_closed)
			continue;
		ret->channels++;
		ret->commands += c->cmd_count;
		ret->window += c->accept.credits;
		ret->rnic = ret->rnic ? ret->rnic : k.rnic;
		uint64_t since = k.output.since_ns;
		if (since && (!ret->tx_since_ns || since < ret->tx_since_ns))
			ret->tx_since_ns = since;
	}
}

struct buf_copies srp_copies(const struct session *s)
{
	struct sums sums;
	sum_channels(srp_session_of(s), &sums);
	return sums.copied;
}

// ---- what both sides have agreed on, the same for all channels of an initiator ----

#define ROW(key, text)                                                                             \
	{                                                                                          \
		.name = key, .type = ATTR_STRING, .max = 256, .default_text = "", .help = text,    \
		.flags = ATTR_READONLY                                                             \
	}

const struct attr_row srp_negotiated_rows[] = {
	ROW("channels", "RDMA channels of the session"),
	ROW("immediate_data", "Yes: data-out may be in the command IU"),
	ROW("max_iu_from_initiator", "longest IU the target receives"),
	ROW("max_iu_to_initiator", "longest IU the target sends"),
	ROW("request_limit", "commands of a channel that may be in flight"),
	{ 0 },
};

static void describe_terms(const struct srp_session *s, unsigned channels, struct session_info *to)
{
	struct list *first = list_first(&s->channels);
	session_negotiated(to, "channels", NULL, channels, false);
	if (!first)
		return;
	const struct srp_accept *a = &channel_of(first)->accept;
	session_negotiated(to, "immediate_data", a->flags & SRP_IMMED_SUPPORTED ? "Yes" : "No", 0,
			   false);
	session_negotiated(to, "max_iu_from_initiator", NULL, a->it_iu_len, true);
	session_negotiated(to, "max_iu_to_initiator", NULL, a->ti_iu_len, false);
	session_negotiated(to, "request_limit", NULL, a->credits, true);
}

void srp_describe(const struct session *s, struct session_info *to)
{
	const struct srp_session *ss = srp_session_of(s);
	uint64_t now = worker_now(s->worker);
	struct sums sums;
	sum_channels(ss, &sums);
	session_identity(to, "channels", NULL, sums.channels);
	describe_terms(ss, sums.channels, to);
	to->remote_rights = sums.rnic ? rnic_remote_rights(sums.rnic) : 0;
	to->window = sums.window;
	to->commands_in_flight = sums.commands;
	if (sums.tx_since_ns && now > sums.tx_since_ns)
		to->output_waits_us = (now - sums.tx_since_ns) / 1000;
}
