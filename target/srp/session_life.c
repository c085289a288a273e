// SPDX-License-Identifier: BSD-2-Clause
// Begin and end of a session: its nexus with the LUN map of its ACL, its place in the registry and
// its memory. SPC-5 7.6.4.5.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/fabric/portal.h"
#include "target/fabric/removal.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_ops.h"
#include "target/scsi/reservations/transport_id.h"
#include "target/srp/cmd.h"
#include "target/srp/events.h"
#include "target/srp/nexuses.h"
#include "target/srp/srp.h"
#include "target/srp/worker.h"

// ---- the nexus ----

static void on_notice(struct nexus *n, uint16_t lun, uint32_t sense_code)
{
	event_notice(n->owner, lun, sense_code);
}

static void on_overdue(struct nexus *n, uint32_t seconds)
{
	struct srp_session *s = n->owner;
	session_note_slow(&s->session);
	srp_session_close(s, false, SRP_LOGOUT_NO_REASON,
			  "other sessions have waited %u s for blocks that it transfers", seconds);
}

static struct nexus_removal *on_remove(struct nexus *n, const struct nexus_name *names,
				       unsigned count, void (*done)(void *arg, int bad), void *arg)
{
	struct srp_session *s = n->owner;
	return removal_begin(&s->session, names, count, done, arg);
}

static const struct nexus_ops nexus_ops = {
	.notice = on_notice,
	.overdue = on_overdue,
	.remove = on_remove,
	.remove_cancel = removal_cancel,
};

int srp_session_make_nexus(struct srp_session *s, const struct login *l, struct err *e)
{
	char port[FABRIC_PORT_SIZE], target_port[FABRIC_PORT_SIZE];
	srp_port_name(s->initiator, 0, port);
	srp_port_name(s->target, s->session.tpg->tag, target_port);
	struct nexus_info info = {
		.protocol = SCSI_PROTOCOL_SRP,
		.initiator_port = port,
		.initiator_name = s->initiator,
		.target_name = s->target,
		.target_port = target_port,
		.relative_port = s->session.tpg->relative_port,
		.unsolicited = SRP_IT_IU_MAX,
		.is_buffered = session_is_slow(&s->session, worker_now(s->session.worker)),
	};
	info.transport_id_len = pr_tid_put_srp(info.transport_id, l->req.initiator);
	int r = nexus_new(&s->session.nexus, &info, &nexus_ops, s,
			  s->session.acl ? s->session.acl->map : s->session.tpg->demo_map);
	return r < 0 ? err_errno(e, r, "nexus") : 0;
}

// ---- the end ----

static void session_free(struct srp_session *s)
{
	struct srp_worker *sw = srp_worker();
	view_target_put(s->session.target);
	portal_put(s->session.portal);
	if (s->is_entered)
		session_leave(&s->session);
	list_remove(&s->link);
	free(s);
	if (list_empty(&sw->sessions))
		srp_cmd_pool_trim(sw);
	srp_worker_rest(sw);
}

static void end_nexus(struct srp_session *s)
{
	struct session_traffic traffic = { 0 };
	if (!s->session.nexus)
		return;
	session_add_traffic(&s->session, &traffic);
	portal_note_end(s->session.portal, &traffic);
	if (s->has_logged_out)
		nexus_leave(s->session.nexus);
	nexus_free(s->session.nexus);
	s->session.nexus = NULL;
}

static void free_run(struct msg *m)
{
	struct srp_session *s = container_of(m, struct srp_session, free_msg);
	s->is_free_posted = false;
	end_nexus(s);
	// Only now may a new session of the same nexus start.
	nexuses_leave(s);
	removal_nexus_ended(&s->session);
	if (!__atomic_load_n(&s->holds, __ATOMIC_ACQUIRE))
		session_free(s);
}

// ---- the begin ----

static void session_fill(struct srp_session *s, const struct login *l)
{
	memcpy(s->initiator, l->initiator, sizeof s->initiator);
	snprintf(s->target, sizeof s->target, "%s", l->terms.target->name);
	memcpy(s->peer, l->peer_text, sizeof s->peer);
	s->peer_addr = l->peer;
	tcp_addr_format(&l->request->local_addr, s->local);
	s->session.portal = portal_get(l->portal);
	s->session.target = view_target_get((struct view_target *)l->terms.target);
	s->session.tpg = l->terms.tpg;
	s->session.acl = l->terms.acl;
	s->session.initiator = s->initiator;
	s->session.target_name = s->target;
	s->session.transport = "SRP";
	s->session.carrier = l->request->carrier;
	s->session.peer = s->peer;
	s->session.local = s->local;
	s->session.peer_addr = &s->peer_addr;
}

struct srp_session *srp_session_new(const struct login *l)
{
	struct srp_session *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	session_init(&s->session, l->session.fabric, l->session.worker);
	session_fill(s, l);
	list_init(&s->channels);
	list_init(&s->tmf_waits);
	rnic_drain_init(&s->drain);
	s->free_msg.fn = free_run;
	s->worker = srp_worker();
	list_push_back(&s->worker->sessions, &s->link);
	srp_worker_wake(s->worker);
	return s;
}

void srp_session_enter(struct srp_session *s)
{
	s->session.state = SESSION_LIVE;
	s->is_entered = true;
	session_enter(&s->session);
	// It has missed changes published during the login.
	struct view *v = view_current(s->session.fabric);
	session_follow(&s->session, v);
	view_put(v);
}

void srp_session_abandon(struct srp_session *s)
{
	s->session.state = SESSION_ENDING;
	srp_session_check_end(s);
}
