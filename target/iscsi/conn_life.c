// SPDX-License-Identifier: BSD-2-Clause
// Begin and end of a connection: its mover, the phases that its PDUs go to, and its memory.
#include "target/iscsi/conn_life.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/counter.h"
#include "core/log.h"
#include "target/fabric/fabric.h"
#include "target/fabric/peer_log.h"
#include "target/fabric/portal.h"
#include "target/fabric/removal.h"
#include "target/iscsi/cmd.h"
#include "target/iscsi/first_byte.h"
#include "target/iscsi/full_feature.h"
#include "target/iscsi/login.h"
#include "target/iscsi/reinstatement.h"
#include "target/iscsi/text.h"
#include "target/iscsi/timeouts.h"
#include "target/iscsi/window.h"
#include "target/iscsi/worker.h"
#include "target/scsi/ending.h"
#include "target/scsi/nexus.h"
#include "transport/rdma/rnic.h"

#define LOGIN_TIMEOUT 15 // seconds, until the TPG's value is known

// --- the end ---

static void conn_free(struct conn *c)
{
	struct iscsi_worker *iw = iscsi_worker();
	if (c->login) {
		login_done(c->login);
		free(c->login);
	}
	login_slot_done(&c->session);
	portal_conn_closed(c->session.portal, &c->dm->peer_addr);
	conn_count_traffic(c);
	c->dm->ops->free(c->dm);
	view_target_put(c->session.target);
	view_put(c->view);
	session_leave(&c->session);
	list_remove(&c->link);
	free(c);
	if (!list_empty(&iw->conns))
		return;
	cmd_pool_trim(iw);
	timeouts_stop(iw);
}

static void free_run(struct msg *m)
{
	struct conn *c = container_of(m, struct conn, free_msg);
	c->is_free_posted = false;
	if (c->session.nexus) {
		struct session_traffic traffic = { 0 };
		session_add_traffic(&c->session, &traffic);
		portal_note_end(c->session.portal, &traffic);
		nexus_free(c->session.nexus);
		c->session.nexus = NULL;
	}
	// Only now may a new session of the same nexus start.
	reinstatement_leave(c);
	removal_nexus_ended(&c->session);
	if (!__atomic_load_n(&c->holds, __ATOMIC_ACQUIRE))
		conn_free(c);
}

static void on_closed(struct dm *dm, const struct err *e)
{
	struct conn *c = dm->role;
	struct iscsi_worker *iw = iscsi_worker();
	bool was_login = c->session.state == SESSION_LOGIN;
	login_slot_leave(&c->session);
	if (!was_login)
		session_ended(&c->session,
			      c->session.state == SESSION_LEAVING ? "logged out" : e->text);
	if (e->code == -EPROTO || e->code == -EBADMSG) {
		counter_add(&iw->counters.connections_closed_protocol_error, 1);
		if (was_login && peer_log_permits(LOG_LVL_WARN, c->session.fabric->name,
						  "connection dropped", &dm->peer_addr))
			session_log(&c->session, LOG_LVL_WARN, "connection dropped: %s", e->text);
	}
	c->session.state = SESSION_ENDING;
	c->when_idle = NULL;
	text_drop(c);
	conn_hold(c);
	nexus_begin_end(c->session.nexus);
	window_drop_held(c);
	cmd_end_all(c);
	conn_release(c);
}

// --- PDUs ---

static int on_control(struct dm *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		      const uint8_t *data, struct err *e)
{
	struct conn *c = dm->role;
	switch (c->session.state) {
	case SESSION_LOGIN:
		return login_pdu(c, bhs, data, pdu->data_len, e);
	case SESSION_LIVE:
		return c->when_idle ? 0 : full_feature_pdu(c, pdu, bhs, data, e);
	default:
		return 0;
	}
}

static void on_sent(struct dm *dm)
{
	struct conn *c = dm->role;
	if (text_sent(c))
		return;
	// Over RDMA the initiator closes: it is an error there if the queue pair is closed while
	// the response is being completed.
	if (c->close_when_sent && !c->dm->is_rdma)
		conn_close(c, true, "logged out");
}

const struct dm_up conn_dm_up = {
	.command = cmd_arrived,
	.begin = cmd_begin,
	.ahead = cmd_ahead,
	.control = on_control,
	.data = cmd_data,
	.part = cmd_part,
	.released = cmd_released,
	.sent = on_sent,
	.closed = on_closed,
};

// --- start ---

static void worker_enter(struct iscsi_worker *iw, struct conn *c)
{
	if (list_empty(&iw->conns))
		timeouts_start(iw);
	list_push_back(&iw->conns, &c->link);
	session_enter(&c->session);
	counter_add(&iw->counters.connections_accepted, 1);
}

static void refuse(int fd, struct rnic_request *q)
{
	if (q)
		rnic_reject(q, NULL, 0);
	else
		close(fd);
}

static int conn_start(struct conn *c, int fd, struct rnic_request *q, const struct tcp_addr *peer,
		      struct err *e)
{
	int r = login_slot_take(&c->session, peer, e);
	if (r < 0) {
		refuse(fd, q);
		return r;
	}
	r = q ? mover_begin_rdma(c, q, e) : mover_begin(c, fd, e);
	if (r < 0)
		login_slot_leave(&c->session);
	return r;
}

static void conn_init(struct conn *c, struct worker *w, struct portal *portal)
{
	session_init(&c->session, portal_fabric(portal), w);
	c->session.portal = portal;
	c->session.initiator = c->names.initiator_name;
	c->session.target_name = c->names.target_name;
	c->up = &conn_dm_up;
	c->run_held = full_feature_held;
	c->login_timeout = LOGIN_TIMEOUT;
	c->next_ttt = 1;
	c->free_msg.fn = free_run;
	c->resume_msg.fn = login_resume;
	list_init(&c->cmds);
	list_init(&c->held);
}

void conn_accept(struct worker *w, int fd, struct rnic_request *q, struct portal *portal)
{
	struct iscsi_worker *iw = iscsi_worker();
	struct err e = { 0 };
	struct conn *c = calloc(1, sizeof *c);
	struct tcp_addr peer;
	if (q)
		peer = q->peer_addr;
	else
		tcp_addr_of_peer(&peer, fd);
	if (!c) {
		refuse(fd, q);
		err_set(&e, -ENOMEM, "out of memory for a connection");
	} else {
		conn_init(c, w, portal);
		conn_start(c, fd, q, &peer, &e);
	}
	if (!e.code) {
		worker_enter(iw, c);
		return;
	}
	portal_refused(portal_fabric(portal), &peer, e.text);
	counter_add(&iw->counters.connections_refused, 1);
	portal_conn_closed(portal, &peer);
	if (c && c->dm)
		c->dm->ops->free(c->dm);
	free(c);
}
