// SPDX-License-Identifier: BSD-2-Clause
// Life of a connection: accept, login, full feature, end.
#include "target/iscsi/conn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/counter.h"
#include "core/log.h"
#include "target/iscsi/peer_log.h"
#include "target/iscsi/portal.h"
#include "target/scsi/nexus.h"
#include "transport/rdma/rnic.h"
#include "transport/wire/be.h"

#define LOGIN_TIMEOUT 15 // seconds, until the TPG's value is known

static struct iscsi_worker iscsi_workers[WORKER_MAX];
static uint64_t next_id; // atomic

struct iscsi_worker *iscsi_worker_at(unsigned index)
{
	return &iscsi_workers[index];
}

struct iscsi_worker *iscsi_worker(void)
{
	return &iscsi_workers[worker_index(worker_self())];
}

void conn_log(const struct conn *c, int level, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	log_line(level, "iscsi: sid %lu peer=%s initiator=%s target=%s: %s", (unsigned long)c->id,
		 c->dm->peer, c->names.initiator_name, c->names.target_name, text);
}

void conn_send(struct conn *c, const uint8_t *bhs, const void *data, uint32_t len, unsigned flags)
{
	c->dm->ops->send(c->dm, bhs, data, len, flags);
}

uint32_t conn_next_ttt(struct conn *c)
{
	uint32_t ttt = c->next_ttt++;
	if (c->next_ttt == ISCSI_TAG_NONE)
		c->next_ttt = 1;
	return ttt;
}

void conn_reject(struct conn *c, uint8_t reason, const uint8_t *bad_bhs)
{
	struct iscsi_reject h = { .opcode = ISCSI_OP_REJECT, .flags = ISCSI_F, .reason = reason };
	put_be32(h.itt, ISCSI_TAG_NONE);
	counter_add(&iscsi_worker()->counters.rejects_sent, 1);
	char cause[48];
	snprintf(cause, sizeof cause, "rejected %s, reason %02x",
		 iscsi_opcode_name(bad_bhs[0] & ISCSI_OP_MASK), reason);
	if (peer_log_permits(LOG_LVL_INFO, cause, &c->dm->peer_addr))
		conn_log(c, LOG_LVL_INFO, "%s", cause);
	conn_send(c, (const uint8_t *)&h, bad_bhs, ISCSI_BHS_LEN, DM_ADVANCES);
}

void conn_close(struct conn *c, bool linger, const char *fmt, ...)
{
	struct err why = { .code = -ESHUTDOWN };
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why.text, sizeof why.text, fmt, ap);
	va_end(ap);
	if (c->state != CONN_ENDING)
		c->dm->ops->close(c->dm, linger, &why);
}

// --- the end ---

static void conn_free(struct conn *c)
{
	struct iscsi_worker *iw = iscsi_worker();
	if (c->login) {
		login_done(c->login);
		free(c->login);
	}
	portal_conn_closed(c->portal, &c->dm->peer_addr);
	struct dm_counters n;
	c->dm->ops->counters(c->dm, &n);
	counter_add(&iw->counters.pdus_received, n.pdus_in);
	counter_add(&iw->counters.pdus_sent, n.pdus_out);
	counter_add(&iw->counters.bytes_received, n.bytes_in);
	counter_add(&iw->counters.bytes_sent, n.bytes_out);
	counter_add(&iw->counters.digest_errors, n.digest_errors);
	c->dm->ops->free(c->dm);
	view_target_put(c->target);
	iscsi_view_put(c->view);
	list_remove(&c->link);
	__atomic_sub_fetch(&iw->count, 1, __ATOMIC_RELAXED);
	iw->displaced -= c->is_displaced;
	free(c);
	if (!list_empty(&iw->conns))
		return;
	cmd_pool_trim(iw);
	conn_tick_stop(iw);
}

static void free_run(struct msg *m)
{
	struct conn *c = container_of(m, struct conn, free_msg);
	c->is_free_posted = false;
	if (c->nexus) {
		portal_note_end(c->portal, c);
		nexus_free(c->nexus);
		c->nexus = NULL;
	}
	// Only now may a new session of the same nexus start.
	session_leave(c);
	if (!__atomic_load_n(&c->holds, __ATOMIC_ACQUIRE))
		conn_free(c);
}

void conn_check_end(struct conn *c)
{
	if (c->state != CONN_ENDING || c->is_free_posted || !list_empty(&c->cmds) ||
	    __atomic_load_n(&c->holds, __ATOMIC_ACQUIRE))
		return;
	c->is_free_posted = true;
	worker_post(c->worker, &c->free_msg);
}

void conn_hold(struct conn *c)
{
	__atomic_add_fetch(&c->holds, 1, __ATOMIC_RELAXED);
}

void conn_release(struct conn *c)
{
	if (!__atomic_sub_fetch(&c->holds, 1, __ATOMIC_ACQ_REL))
		conn_check_end(c);
}

static void on_closed(struct dm *dm, const struct err *e)
{
	struct conn *c = dm->role;
	struct iscsi_worker *iw = iscsi_worker();
	bool was_login = c->state == CONN_LOGIN;
	login_slot_leave(c);
	if (!was_login)
		session_ended(c, c->state == CONN_LOGOUT ? "logged out" : e->text);
	if (e->code == -EPROTO || e->code == -EBADMSG) {
		counter_add(&iw->counters.connections_closed_protocol_error, 1);
		if (was_login &&
		    peer_log_permits(LOG_LVL_WARN, "connection dropped", &dm->peer_addr))
			conn_log(c, LOG_LVL_WARN, "connection dropped: %s", e->text);
	}
	c->state = CONN_ENDING;
	c->logout_when_idle = false;
	text_drop(c);
	conn_hold(c);
	ffp_drop_held(c);
	cmd_end_all(c);
	conn_release(c);
}

// --- PDUs ---

static int on_control(struct dm *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		      const uint8_t *data, struct err *e)
{
	struct conn *c = dm->role;
	switch (c->state) {
	case CONN_LOGIN:
		return conn_login_pdu(c, bhs, data, pdu->data_len, e);
	case CONN_FULL_FEATURE:
		return c->logout_when_idle ? 0 : ffp_control(c, pdu, bhs, data, e);
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
	.released = cmd_released,
	.sent = on_sent,
	.closed = on_closed,
};

// --- end of the login ---

void conn_widen(struct conn *c)
{
	if (!c->is_narrow)
		return;
	c->is_narrow = false;
	c->sns.max_cmd_sn += c->window - c->dm->first_window;
}

static void log_login(const struct conn *c)
{
	if (!peer_log_permits_some(LOG_LVL_INFO, "login ok", &c->dm->peer_addr, LOGINS_LOGGED))
		return;
	conn_log(c, LOG_LVL_INFO, "login ok transport=%s carrier=%s auth=%s%s digests=%s,%s",
		 c->dm->transport, c->dm->carrier,
		 c->proof.is_mutual ? "mutual-chap"
		 : c->proof.alg	    ? "chap"
				    : "none",
		 c->params.is_discovery ? " discovery" : "",
		 c->params.header_digest ? "header" : "none",
		 c->params.data_digest ? "data" : "none");
}

void conn_enter_full_feature(struct conn *c)
{
	struct iscsi_worker *iw = iscsi_worker();
	const struct login_session *s = login_session(c->login);
	c->params = *login_params(c->login);
	c->names = *login_names(c->login);
	c->proof = *login_proof(c->login);
	c->sns = (struct dm_sns){ login_stat_sn(c->login), s->exp_cmd_sn, s->max_cmd_sn };
	login_done(c->login);
	free(c->login);
	c->login = NULL;
	c->state = CONN_FULL_FEATURE;
	c->dm->window = c->window;
	c->dm->ops->full_feature(c->dm, &c->params);
	if (!c->params.is_discovery)
		login_slot_leave(c); // discovery is open to all: the limits of logins still apply
	counter_add(&iw->counters.logins_ok, 1);
	portal_note_login(c->portal);
	log_login(c);
	iscsi_view_put(c->view);
	c->view = NULL;
	// The connection has missed changes published during the login.
	struct iscsi_view *v = iscsi_view_current();
	conn_follow(c, v);
	iscsi_view_put(v);
}

static void map_followed(void *arg)
{
	conn_release(arg);
}

void conn_follow(struct conn *c, struct iscsi_view *v)
{
	if (c->params.is_discovery || c->state != CONN_FULL_FEATURE)
		return;
	const struct view_target *t = view_find_target(v, c->target->name);
	if (t == c->target)
		return;
	const struct view_tpg *tpg = NULL;
	for (unsigned i = 0; t && i < t->tpg_count; i++)
		if (t->tpgs[i].tag == c->tpg->tag && t->tpgs[i].is_enabled)
			tpg = &t->tpgs[i];
	if (!tpg) {
		conn_close(c, true,
			   t ? "the target portal group was disabled or deleted"
			     : "the target was deleted");
		return;
	}
	const struct view_acl *acl = view_find_acl(tpg, c->names.initiator_name);
	if (!acl && (c->acl || !tpg->attr.generate_node_acls)) {
		conn_close(c, true, "the initiator's ACL was deleted");
		return;
	}
	struct view_target *old = c->target;
	c->ahead = NULL;
	c->target = view_target_get((struct view_target *)t);
	c->tpg = tpg;
	c->acl = acl;
	struct lun_map *map = acl ? acl->map : tpg->demo_map;
	if (map != c->nexus->map) {
		conn_hold(c);
		nexus_set_map(c->nexus, map, map_followed, c);
	}
	view_target_put(old);
}

// --- start ---

void conn_refused(const struct tcp_addr *peer, const char *why)
{
	char cause[64], text[TCP_ADDR_TEXT];
	tcp_addr_format(peer, text);
	refusal_note("", "", text, ISCSI_LOGIN_OUT_OF_RESOURCES, why);
	snprintf(cause, sizeof cause, "connection refused: %s", why);
	if (peer_log_permits(LOG_LVL_WARN, cause, peer))
		log_warn("iscsi: connection from %s refused: %s", text, why);
}

static void resume_run(struct msg *m)
{
	struct conn *c = container_of(m, struct conn, resume_msg);
	if (c->state == CONN_LOGIN && c->login && login_is_waiting(c->login))
		login_policy_resume(c, 0, NULL);
	conn_release(c);
}

static void worker_enter(struct iscsi_worker *iw, struct conn *c)
{
	if (list_empty(&iw->conns))
		conn_tick_start(iw);
	list_push_back(&iw->conns, &c->link);
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
	int r = login_slot_take(c, peer, e);
	if (r < 0) {
		refuse(fd, q);
		return r;
	}
	r = q ? transport_begin_rdma(c, q, e) : transport_begin(c, fd, e);
	if (r < 0)
		login_slot_leave(c);
	return r;
}

void conn_new(struct worker *w, int fd, struct rnic_request *q, struct portal *portal,
	      const struct tcp_addr *portal_addr)
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
		c->worker = w;
		c->id = __atomic_add_fetch(&next_id, 1, __ATOMIC_RELAXED);
		c->start_ns = worker_now(w);
		c->portal = portal;
		c->portal_addr = *portal_addr;
		c->login_timeout = LOGIN_TIMEOUT;
		c->next_ttt = 1;
		c->free_msg.fn = free_run;
		c->resume_msg.fn = resume_run;
		list_init(&c->cmds);
		list_init(&c->held);
		conn_start(c, fd, q, &peer, &e);
	}
	if (!e.code) {
		worker_enter(iw, c);
		return;
	}
	conn_refused(&peer, e.text);
	counter_add(&iw->counters.connections_refused, 1);
	__atomic_sub_fetch(&iw->count, 1, __ATOMIC_RELAXED);
	portal_conn_closed(portal, &peer);
	if (c && c->dm)
		c->dm->ops->free(c->dm);
	free(c);
}
