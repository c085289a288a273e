// SPDX-License-Identifier: BSD-2-Clause
// Begin and end of a channel, and what its transport calls.
#include <errno.h>
#include <stdlib.h>

#include "core/counter.h"
#include "core/log.h"
#include "target/fabric/peer_log.h"
#include "target/fabric/portal.h"
#include "target/scsi/ending.h"
#include "target/srp/cmd.h"
#include "target/srp/nexuses.h"
#include "target/srp/placement.h"
#include "target/srp/tmf.h"
#include "target/srp/worker.h"

#define CLOSES_LOGGED 16 // of one address in PEER_LOG_S seconds

// ---- the end ----

static void count_traffic(struct session_channel *c)
{
	struct srp_channel_info k;
	srp_channel_info(c->ch, &k);
	srp_worker_count(srp_worker(), &c->counted, &k);
	c->session->copied.count += k.copied.count;
	c->session->copied.bytes += k.copied.bytes;
}

static void free_run(struct msg *m)
{
	struct session_channel *c = container_of(m, struct session_channel, free_msg);
	struct srp_session *s = c->session;
	count_traffic(c);
	srp_channel_free(c->ch);
	placement_leave(&c->peer, s->session.worker);
	portal_conn_closed(c->portal, &c->peer);
	list_remove(&c->link);
	s->channel_count--;
	free(c);
	srp_session_check_end(s);
}

static void session_is_over(struct srp_session *s, const char *why)
{
	s->is_closing = true;
	s->session.state = SESSION_ENDING;
	nexuses_ends(s);
	nexus_begin_end(s->session.nexus);
	session_ended(&s->session, s->has_logged_out ? "logged out" : *s->why ? s->why : why);
}

static void log_closed(const struct session_channel *c, const char *why)
{
	const struct session *s = &c->session->session;
	if (peer_log_permits_some(LOG_LVL_INFO, s->fabric->name, "channel closed", &c->peer,
				  CLOSES_LOGGED))
		session_log(s, LOG_LVL_INFO, "channel closed, %u left: %s", c->session->open_count,
			    why);
}

static void on_closed(struct srp_channel *ch, const struct err *why)
{
	struct session_channel *c = srp_channel_role(ch);
	struct srp_session *s = c->session;
	if (why->code == -EPROTO)
		counter_add(&srp_worker()->counters.connections_closed_protocol_error, 1);
	c->is_closed = true;
	c->holds++; // until its commands have been handled
	if (--s->open_count)
		log_closed(c, why->text);
	else
		session_is_over(s, why->text);
	srp_cmd_end_all(c);
	if (!s->open_count)
		srp_tmf_leave(s);
	c->holds--;
	channel_check_end(c);
}

static void on_logout(struct srp_channel *ch)
{
	struct session_channel *c = srp_channel_role(ch);
	c->session->has_logged_out |= c->session->open_count == 1;
	channel_close(c, false, SRP_LOGOUT_NO_REASON, "logged out");
}

static const struct srp_channel_up channel_up = {
	.command = srp_cmd_arrived,
	.begin = srp_cmd_begin,
	.data = srp_cmd_data,
	.part = srp_cmd_part,
	.released = srp_cmd_released,
	.task_mgmt = srp_tmf_request,
	.logout = on_logout,
	.closed = on_closed,
};

// ---- the begin ----

static void channel_init(struct session_channel *c, struct srp_session *s, const struct login *l)
{
	c->session = s;
	c->portal = l->portal;
	c->peer = l->peer;
	c->accept = l->terms.terms;
	c->wants_events = l->req.flags & SRP_AER_SOLNT;
	c->free_msg.fn = free_run;
	list_init(&c->cmds);
}

// Accepts q, or refuses and frees it.
static int accept_request(struct session_channel *c, const struct login *l, struct rnic_request *q,
			  struct err *e)
{
	const struct portal_attr attr = view_portal_attr(l->view, portal_addr(l->portal));
	const struct srp_channel_options o = {
		.accept = c->accept,
		.imm_offset = l->req.imm_offset,
		.tos = (uint8_t)attr.tos,
		.pkey = (uint16_t)attr.pkey,
		.drain = &c->session->drain,
	};
	return srp_channel_new(&c->ch, q, &o, &channel_up, c, e);
}

int channel_begin(struct srp_session *s, struct login *l, struct err *e)
{
	struct rnic_request *q = l->request;
	struct session_channel *c = calloc(1, sizeof *c);
	if (!c)
		return err_set(e, -ENOMEM, "out of memory for a channel");
	channel_init(c, s, l);
	l->request = NULL; // answered below
	int r = accept_request(c, l, q, e);
	if (r < 0) {
		free(c);
		return r;
	}
	l->portal = NULL;
	list_push_back(&s->channels, &c->link);
	s->channel_count++;
	s->open_count++;
	placement_enter(&c->peer, s->session.worker);
	return 0;
}
