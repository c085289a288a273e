// SPDX-License-Identifier: BSD-2-Clause
// Connecting a session, on its worker: to its portals one after the other, over the first provider
// of RDMA that reaches the portal; first the channel that begins the nexus, then further ones; what
// channels call. T10 SRP 5.4, 5.6.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "initiator/srp/session_priv.h"
#include "transport/srp/list.h"

#define TICK_US	    1000000u
#define RETRIES_MAX 3 // of a connect that may succeed at once

static const struct tcp_addr *portal(const struct srps_session *s)
{
	return &s->config.portals[s->portal_at];
}

// --- failing ---

// The next provider may reach the portal. The error of a provider with a device is the more useful
// one.
static bool try_next_provider(struct srps_session *s, const struct err *why)
{
	if (!s->connect_why.code || s->connect_why.code == -ENODEV)
		s->connect_why = *why;
	if (s->provider_at + 1 >= s->config.provider_count)
		return false;
	s->provider_at++;
	srps_connect(s);
	return true;
}

// Another attempt has the same answer.
static bool is_final(uint32_t reason)
{
	return reason == SRP_REJ_NO_SUCH_PORT || reason == SRP_REJ_UNSUPPORTED_FORMAT ||
	       reason == SRP_REJ_IU_TOO_LARGE;
}

// The name that an ACL needs.
static void name_initiator(const struct srps_session *s, struct err *e)
{
	char id[2 * SRP_PORT_ID_LEN + 1], text[sizeof e->text];
	for (unsigned i = 0; i < SRP_PORT_ID_LEN; i++)
		snprintf(id + 2 * i, 3, "%02x", s->config.initiator[i]);
	memcpy(text, e->text, sizeof text);
	err_set(e, e->code, "%.180s; initiator ib.%s", text, id);
}

static bool is_discovery(const struct srps_session *s)
{
	return !memcmp(s->config.target, srp_list_port, SRP_PORT_ID_LEN);
}

// The first channel; reason: of a LOGIN_REJ, or 0.
static void failed(struct srps_session *s, const struct err *why, uint32_t reason)
{
	char text[TCP_ADDR_TEXT];
	if (reason == SRP_REJ_IU_TOO_LARGE && !s->has_no_immediate) {
		s->has_no_immediate = true;
		srps_connect(s);
		return;
	}
	if (!reason && try_next_provider(s, why))
		return;
	struct err e = reason ? *why : s->connect_why;
	if (reason)
		e.code = reason == SRP_REJ_NO_SUCH_PORT ? -ENXIO : -ECONNABORTED;
	if (reason == SRP_REJ_NO_SUCH_PORT && is_discovery(s))
		err_set(&e, e.code,
			"SRP: login refused, reason 0x%08x: the target does not support discovery, "
			"which is farblockd's own (use srp://host[:port]/id_ext:ioc_guid)",
			reason);
	else if (reason == SRP_REJ_NO_SUCH_PORT || reason == SRP_REJ_CHANNEL_LIMIT)
		name_initiator(s, &e);
	s->connect_why = (struct err){ 0 };
	s->provider_at = 0;
	err_prefix(&e, "%s", tcp_addr_format(portal(s), text));
	// Tries the next portal of the list; after the last one the attempt has failed.
	s->portal_at = (s->portal_at + 1) % s->config.portal_count;
	if (s->portal_at)
		srps_connect(s);
	else
		srps_lost(s, &e, is_final(reason));
}

// --- up ---

static void on_tick(struct timer *t)
{
	struct srps_session *s = container_of(t, struct srps_session, tick);
	uint64_t now = worker_now(s->worker);
	timer_arm(s->worker, t, TICK_US);
	scsi_session_tick(&s->scsi, now);
	if (s->state == SRPS_UP)
		srps_tmf_tick(s, now);
	if (s->state == SRPS_UP && !srps_tmf_holds(s)) // which has its own limit
		srps_ping_tick(s, now);
}

static void fill_info(struct srps_session *s)
{
	struct srps_info *i = &s->info;
	struct srpi_info ch;
	srpi_info(s->channels[0].ch, &ch);
	tcp_addr_format(ch.peer_addr, i->peer);
	tcp_addr_format(ch.local_addr, i->local);
	snprintf(i->transport, sizeof i->transport, "%s", ch.transport);
	i->accept = ch.accept;
	i->immediate_max = srpi_immediate_max(s->channels[0].ch);
	i->channels = s->channel_count;
	i->channels_wanted = s->config.channels;
}

static void enter_up(struct srps_session *s)
{
	s->state = SRPS_UP;
	s->is_draining = false;
	s->is_down = false;
	s->next = s->channel_count - 1;
	timer_init(&s->tick, on_tick);
	timer_arm(s->worker, &s->tick, TICK_US);
	scsi_session_enter_up(&s->scsi);
}

// --- channels ---

static const struct srpi_up channel_up;

static int connect_channel(struct srps_session *s, unsigned index, struct err *e)
{
	struct srps_channel *c = &s->channels[index];
	struct srpi_options o = {
		.provider = s->config.providers[s->provider_at],
		.peer = portal(s),
		.local = s->config.has_local ? &s->config.local : NULL,
		.is_additional = index > 0,
		.number = (uint8_t)index,
		.has_no_immediate = s->has_no_immediate,
		.it_iu_len = s->config.it_iu_len,
		.tasks = s->config.channel_depth,
		.timeout_usec = s->config.connect_timeout * US_PER_SEC,
	};
	memcpy(o.initiator, s->config.initiator, SRP_PORT_ID_LEN);
	memcpy(o.target, s->config.target, SRP_PORT_ID_LEN);
	c->s = s;
	int r = srpi_new(&c->ch, s->worker, &o, &channel_up, c, e);
	if (r < 0)
		c->ch = NULL;
	else
		s->live++;
	return r;
}

void srps_connect(struct srps_session *s)
{
	struct err e;
	s->state = SRPS_CONNECTING;
	s->is_connect_due = s->live;
	if (s->live) // its commands come first
		return;
	s->channel_count = 0;
	s->info.fewer = (struct err){ 0 };
	if (connect_channel(s, 0, &e) < 0)
		failed(s, &e, 0);
}

// A further channel was refused: the session does without.
static void go_without(struct srps_session *s, const struct err *why)
{
	s->info.fewer = *why;
	enter_up(s);
}

static void on_up(struct srpi_channel *ch, const struct srp_accept *a)
{
	struct srps_channel *c = srpi_role(ch);
	struct srps_session *s = c->s;
	struct err e;
	c->retries = 0;
	if (s->is_dropping)
		return;
	if (!s->channel_count++)
		s->connect_why = (struct err){ 0 };
	fill_info(s); // a loss before the last channel is up names the peer
	if (s->channel_count == s->config.channels)
		enter_up(s);
	else if (connect_channel(s, s->channel_count, &e) < 0)
		go_without(s, &e);
}

static void on_event(struct srpi_channel *ch, const uint8_t lun[8], const uint8_t *sense,
		     uint32_t len)
{
	struct srps_session *s = ((struct srps_channel *)srpi_role(ch))->s;
	if (s->state == SRPS_UP && len)
		s->scsi.ops.async(&s->scsi, sense, len);
}

static void on_room(struct srpi_channel *ch)
{
	struct srps_session *s = ((struct srps_channel *)srpi_role(ch))->s;
	if (s->state == SRPS_UP)
		scsi_session_pump(&s->scsi);
}

// Actions that waited for the end of the old channels.
static void old_gone(struct srps_session *s)
{
	s->is_dropping = false;
	if (s->is_connect_due)
		srps_connect(s);
	else if (s->is_end_due)
		srps_tell_end(s);
	if (s->is_free_due)
		worker_post(s->worker, &s->free_msg);
}

static bool connects_again(struct srps_channel *c, struct err *e)
{
	unsigned index = (unsigned)(c - c->s->channels);
	if (e->code == -EAGAIN && c->retries++ < RETRIES_MAX && !connect_channel(c->s, index, e))
		return true;
	c->retries = 0;
	if (e->code == -EAGAIN)
		e->code = -ECONNRESET;
	return false;
}

static void on_closed(struct srpi_channel *ch, const struct err *why)
{
	struct srps_channel *c = srpi_role(ch);
	struct srps_session *s = c->s;
	struct srpi_info info;
	struct err e = *why;
	srpi_info(ch, &info);
	uint32_t reason = info.reject;
	bool was_up = (unsigned)(c - s->channels) < s->channel_count;
	srpi_free(ch);
	c->ch = NULL;
	s->live--;
	if (s->is_dropping) {
		if (!s->live)
			old_gone(s);
	} else if (was_up) {
		err_prefix(&e, "%s", s->info.peer);
		srps_lost(s, &e, false);
	} else if (connects_again(c, &e)) {
		return;
	} else if (s->channel_count) {
		go_without(s, &e);
	} else {
		failed(s, &e, reason);
	}
}

static const struct srpi_up channel_up = {
	.up = on_up,
	.done = srps_done,
	.tmf_done = srps_tmf_done,
	.event = on_event,
	.room = on_room,
	.closed = on_closed,
};
