// SPDX-License-Identifier: BSD-2-Clause
// The pings of a session, on its worker: SRP has none, so that an INQUIRY of LUN 0 goes over each
// channel that has received nothing for a while. Any answer will do. INQUIRY is answered at once,
// also for a LUN that does not exist, and fetches no unit attention; an ALLOCATION LENGTH of 0 asks
// for no data, so that no memory is exposed. SPC-5 4.2.5.6, 6.6; SAM-5 5.14.
#include <errno.h>

#include "initiator/srp/session_priv.h"

#define INQUIRY	    0x12
#define CREDITS_MIN 8 // a target that grants fewer keeps them all for commands

// One credit is kept for it, so that a target that answers nothing at all is noticed, too.
bool srps_ping_needs_room(const struct srps_channel *c)
{
	return c->s->config.ping_interval && c->s->info.accept.credits >= CREDITS_MIN &&
	       !c->is_pinging;
}

static void ping(struct srps_channel *c, uint64_t now)
{
	c->is_pinging = true;
	c->ping_ns = now;
	c->ping = (struct srpi_task){ .cdb = { INQUIRY }, .attr = SRP_ATTR_SIMPLE };
	srpi_send(c->ch, &c->ping);
}

bool srps_ping_done(struct srps_channel *c, const struct srpi_task *t)
{
	if (t != &c->ping)
		return false;
	c->is_pinging = false;
	return true;
}

void srps_ping_aborted(struct srps_channel *c)
{
	if (c->is_pinging)
		srpi_drop(c->ch, &c->ping, -ECANCELED);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

// True: the session is lost.
static bool tick(struct srps_session *s, struct srps_channel *c, uint64_t now)
{
	const struct srps_config *config = &s->config;
	uint64_t rx_ns = srpi_last_rx(c->ch);
	struct err e;
	if (c->is_pinging && now >= later(rx_ns, c->ping_ns) + config->ping_timeout * NS_PER_SEC) {
		err_set(&e, -ETIMEDOUT, "%s: no answer to an INQUIRY within %u s", s->info.peer,
			config->ping_timeout);
		srps_lost(s, &e, false);
		return true;
	}
	if (!c->is_pinging && now >= rx_ns + config->ping_interval * NS_PER_SEC && srpi_room(c->ch))
		ping(c, now);
	return false;
}

void srps_ping_tick(struct srps_session *s, uint64_t now)
{
	if (!s->config.ping_interval || s->is_draining)
		return;
	for (unsigned i = 0; i < s->channel_count; i++)
		if (tick(s, &s->channels[i], now))
			return;
}
