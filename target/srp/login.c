// SPDX-License-Identifier: BSD-2-Clause
// Drives a login: the request by RDMA devices or by software iWARP, its checks (admit.c), its nexus
// (nexuses.c), the answer. T10 SRP 6.3 to 6.5; RFC 5044 7.1.
#include "target/srp/login.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/counter.h"
#include "core/log.h"
#include "target/fabric/fabric.h"
#include "target/fabric/peer_log.h"
#include "target/fabric/portal.h"
#include "target/srp/discovery.h"
#include "target/srp/nexuses.h"
#include "target/srp/worker.h"
#include "transport/rdma/iwarp/iwarp.h"
#include "transport/rdma/rnic.h"

#define LOGIN_TIMEOUT 10 // seconds; initiators wait about as long for an answer
#define LOGINS_LOGGED 16 // of one address in PEER_LOG_S seconds
#define SECOND	      1000000000ull

static struct login *login_of(const struct session *s)
{
	return container_of((struct session *)s, struct login, session);
}

// ---- the end ----

static void login_free(struct login *l)
{
	list_remove(&l->link);
	view_put(l->view);
	free(l);
}

// It is over, whatever the result; without a portal its connection is a channel's.
static void login_end(struct login *l)
{
	struct srp_worker *sw = srp_worker();
	if (l->is_over)
		return;
	l->is_over = true;
	l->session.state = SESSION_ENDING;
	login_slot_leave(&l->session);
	login_slot_done(&l->session);
	if (l->portal)
		portal_conn_closed(l->portal, &l->peer);
	l->portal = NULL;
	list_remove(&l->link);
	list_push_back(&sw->greetings, &l->link);
	if (!l->is_greeting && !__atomic_load_n(&l->holds, __ATOMIC_ACQUIRE))
		login_free(l);
	srp_worker_rest(sw);
}

static void count_refusal(struct login *l, enum refusal_cause cause)
{
	struct fabric_counters *n = &srp_worker()->counters;
	counter_add(&n->logins_failed, 1);
	counter_add(cause == REFUSED_ACL      ? &n->failed_acl
		    : cause == REFUSED_TARGET ? &n->failed_target
					      : &n->failed_other,
		    1);
	portal_note_failure(l->portal, cause);
}

// For the log and for the table of refusals.
static void note_refusal(struct login *l, uint32_t reason, enum refusal_cause cause,
			 const char *why)
{
	char text[48];
	count_refusal(l, cause);
	refusal_note(l->initiator, l->target, l->peer_text, cause, reason, why);
	snprintf(text, sizeof text, "login refused, reason %08x", reason);
	if (peer_log_permits(LOG_LVL_WARN, l->session.fabric->name, text, &l->peer))
		session_log(&l->session, LOG_LVL_WARN, "%s: %s", text, why);
}

static void login_refuse(struct login *l, uint32_t reason, enum refusal_cause cause,
			 const char *why)
{
	uint8_t reject[SRP_LOGIN_REJ_LEN];
	struct rnic_request *q = l->request;
	l->request = NULL;
	note_refusal(l, reason, cause, why);
	if (q) {
		srp_reject_put(reject, l->req.tag, (enum srp_rej_reason)reason);
		rnic_reject(q, reject, sizeof reject);
	}
	login_end(l);
}

// ---- the session ----

static bool log_permits(const struct login *l)
{
	return peer_log_permits_some(LOG_LVL_INFO, l->session.fabric->name, "login ok", &l->peer,
				     LOGINS_LOGGED);
}

static void log_login(const struct srp_session *s, const struct login *l)
{
	if (!log_permits(l))
		return;
	session_log(&s->session, LOG_LVL_INFO, "login ok transport=SRP carrier=%s channel=%u%s",
		    s->session.carrier, s->channel_count,
		    l->terms.terms.flags & SRP_IMMED_SUPPORTED ? " immediate-data" : "");
}

// Answers the login with a channel of s.
static int begin(struct login *l, struct srp_session *s, uint8_t result)
{
	struct err e = { 0 };
	struct portal *p = l->portal;
	l->terms.terms.flags |= result;
	int r = channel_begin(s, l, &e);
	if (r < 0) {
		login_refuse(l, SRP_REJ_INSUFFICIENT_RESOURCES, REFUSED_OTHER, e.text);
		return r;
	}
	counter_add(&srp_worker()->counters.logins_ok, 1);
	portal_note_login(p);
	log_login(s, l);
	login_end(l);
	return 0;
}

static void begin_new(struct login *l, struct srp_session *s, bool has_ended_one)
{
	struct err e = { 0 };
	if (srp_session_make_nexus(s, l, &e) < 0) {
		login_refuse(l, SRP_REJ_INSUFFICIENT_RESOURCES, REFUSED_OTHER, e.text);
		srp_session_abandon(s);
	} else if (begin(l, s, has_ended_one ? SRP_MULTICHAN_TERMINATED : SRP_MULTICHAN_NONE) < 0) {
		srp_session_abandon(s);
	} else {
		srp_session_enter(s);
	}
}

// Both have none, or the same: another channel must not see what its address would not.
static bool same_acl(const struct view_acl *a, const struct view_acl *b)
{
	return a && b ? !strcmp(a->initiator, b->initiator) : a == b;
}

static void join(struct login *l, struct srp_session *s)
{
	if (!same_acl(l->terms.acl, s->session.acl))
		login_refuse(l, SRP_REJ_MULTICHAN_UNSUPPORTED, REFUSED_ACL,
			     "another ACL has admitted the other channels of this initiator (give "
			     "it one by its port id)");
	else if (s->channel_count >= SRP_CHANNELS_MAX)
		login_refuse(l, SRP_REJ_CHANNEL_LIMIT, REFUSED_OTHER,
			     "the initiator has as many channels as a nexus may have (lower "
			     "ch_count)");
	else if (s->session.state != SESSION_LIVE || s->is_closing)
		login_refuse(l, SRP_REJ_INSUFFICIENT_RESOURCES, REFUSED_OTHER,
			     "the session of the other channels is ending (log in again)");
	else
		begin(l, s, SRP_MULTICHAN_MAINTAINED);
}

// Answers the login with a discovery channel.
static void discover(struct login *l)
{
	struct err e = { 0 };
	struct portal *p = l->portal;
	l->session.target_name = "discovery";
	int r = discovery_begin(l, &e);
	if (r < 0) {
		login_refuse(l, SRP_REJ_INSUFFICIENT_RESOURCES, REFUSED_OTHER, e.text);
		return;
	}
	counter_add(&srp_worker()->counters.logins_ok, 1);
	portal_note_login(p);
	if (log_permits(l))
		session_log(&l->session, LOG_LVL_INFO, "login ok carrier=%s", l->session.carrier);
	login_end(l);
}

static void attach(struct login *l, bool had_waited)
{
	struct srp_session *old, *s = srp_session_new(l);
	enum nexus_place place = s ? nexuses_enter(s, l, had_waited, &old) : NEXUS_NO_MEMORY;
	if (place == NEXUS_NEW) {
		begin_new(l, s, had_waited);
		return;
	}
	if (s)
		srp_session_abandon(s);
	switch (place) {
	case NEXUS_JOINS:
		join(l, old);
		break;
	case NEXUS_ELSEWHERE:
		login_refuse(l, SRP_REJ_MULTICHAN_UNSUPPORTED, REFUSED_OTHER,
			     "another worker has the other channels of this initiator, which came "
			     "from another address (log in from one address)");
		break;
	case NEXUS_BUSY:
		login_refuse(l, SRP_REJ_INSUFFICIENT_RESOURCES, REFUSED_OTHER,
			     "another login of this initiator is about to take over its session");
		break;
	case NEXUS_NO_MEMORY:
		login_refuse(l, SRP_REJ_INSUFFICIENT_RESOURCES, REFUSED_OTHER,
			     "out of memory for a session");
		break;
	default:
		break; // it waits
	}
}

// ---- admission ----

// By the current configuration. False: the login was refused.
static bool admit(struct login *l)
{
	struct err e = { 0 };
	view_put(l->view);
	l->view = view_current(l->session.fabric);
	const struct admit_query query = { .view = l->view,
					   .login = &l->req,
					   .initiator = l->initiator,
					   .peer = &l->peer,
					   .portal = portal_addr(l->portal),
					   .is_by_service = l->request->is_by_service,
					   .transport = l->transport };
	enum refusal_cause cause;
	uint32_t reason = srp_login_admit(&query, &l->terms, &cause, &e);
	if (reason)
		login_refuse(l, reason, cause, e.text);
	return !reason;
}

// What it waited for is over. The configuration may have changed meanwhile.
static void resume_run(struct msg *m)
{
	struct login *l = container_of(m, struct login, resume_msg);
	bool is_last = !__atomic_sub_fetch(&l->holds, 1, __ATOMIC_ACQ_REL);
	if (!l->is_over) {
		if (admit(l))
			attach(l, true);
	} else if (is_last && !l->is_greeting) {
		login_free(l);
	}
}

// ---- the request ----

static void request_came(struct login *l, struct rnic_request *q)
{
	struct err e = { 0 };
	l->request = q;
	l->session.carrier = q->carrier;
	login_slot_progress(&l->session);
	if (srp_login_parse(&l->req, q->private_data, q->private_len, q->is_by_service, &e) < 0) {
		login_refuse(l, SRP_REJ_UNABLE_TO_ESTABLISH, REFUSED_OTHER, e.text);
		return;
	}
	port_name(l->req.initiator, l->initiator);
	port_name(l->req.target, l->target);
	if (!admit(l))
		return;
	if (l->terms.is_discovery)
		discover(l);
	else
		attach(l, false);
}

static struct login *find_request(const struct rnic_request *q)
{
	list_for_each (it, &srp_worker()->logins) {
		struct login *l = list_entry(it, struct login, link);
		if (l->request == q)
			return l;
	}
	return NULL;
}

void login_gone(struct rnic_request *q)
{
	struct login *l = find_request(q);
	if (!l)
		return;
	l->request = NULL;
	note_refusal(l, SRP_REJ_UNABLE_TO_ESTABLISH, REFUSED_OTHER,
		     "the initiator closed the connection before the answer");
	login_end(l);
}

// ---- software iWARP ----

static void on_request(void *arg, struct rnic_request *q)
{
	struct login *l = arg;
	l->is_greeting = false;
	if (!l->is_over) {
		request_came(l, q);
		return;
	}
	rnic_reject(q, NULL, 0);
	login_free(l);
}

static void on_gone(void *arg, struct rnic_request *q)
{
	login_gone(q);
}

static void on_refused(void *arg, const struct tcp_addr *peer, const struct err *why)
{
	struct login *l = arg;
	l->is_greeting = false;
	if (l->is_over) {
		login_free(l);
		return;
	}
	portal_refused(l->session.fabric, peer, why->text);
	counter_add(&srp_worker()->counters.connections_refused, 1);
	login_end(l);
}

static const struct rnic_listener_ops greeting_ops = {
	.request = on_request,
	.gone = on_gone,
	.refused = on_refused,
};

static int begin_iwarp(struct login *l, int fd, struct err *e)
{
	if (!(portal_transports(l->portal) & PORTAL_IWARP)) {
		close(fd);
		return err_set(e, -EPROTONOSUPPORT,
			       "software iWARP is not offered by this portal (set transport=all)");
	}
	l->is_greeting = true;
	int r = iwarp_passive(l->session.worker, fd, &greeting_ops, l, e);
	l->is_greeting = !r;
	return r;
}

// ---- accept ----

static void refuse(int fd, struct rnic_request *q)
{
	if (q)
		rnic_reject(q, NULL, 0);
	else
		close(fd);
}

static struct login *login_new(struct worker *w, struct portal *p, const struct tcp_addr *peer)
{
	struct login *l = calloc(1, sizeof *l);
	if (!l)
		return NULL;
	session_init(&l->session, portal_fabric(p), w);
	l->portal = p;
	l->peer = *peer;
	tcp_addr_format(peer, l->peer_text);
	l->session.portal = p;
	l->session.peer = l->peer_text;
	l->session.peer_addr = &l->peer;
	l->session.initiator = l->initiator;
	l->session.target_name = l->target;
	l->resume_msg.fn = resume_run;
	return l;
}

// Takes over fd or q. On an error neither exists any more.
static int login_start(struct login *l, int fd, struct rnic_request *q, struct err *e)
{
	int r = login_slot_take(&l->session, &l->peer, e);
	if (r < 0) {
		refuse(fd, q);
		return r;
	}
	l->transport = q ? PORTAL_RDMA : PORTAL_IWARP;
	r = q ? 0 : begin_iwarp(l, fd, e);
	if (r < 0)
		login_slot_leave(&l->session);
	return r;
}

void login_accept(struct worker *w, int fd, struct rnic_request *q, struct portal *p)
{
	struct srp_worker *sw = srp_worker();
	struct err e = { 0 };
	struct tcp_addr peer;
	if (q)
		peer = q->peer_addr;
	else
		tcp_addr_of_peer(&peer, fd);
	struct login *l = login_new(w, p, &peer);
	if (!l) {
		refuse(fd, q);
		err_set(&e, -ENOMEM, "out of memory for a login");
	} else if (!login_start(l, fd, q, &e)) {
		list_push_back(&sw->logins, &l->link);
		srp_worker_wake(sw);
		counter_add(&sw->counters.connections_accepted, 1);
		if (q)
			request_came(l, q);
		return;
	}
	portal_refused(portal_fabric(p), &peer, e.text);
	counter_add(&sw->counters.connections_refused, 1);
	portal_conn_closed(p, &peer);
	free(l);
}

// ---- limits ----

void login_displace(struct session *s)
{
	if (s->is_discovery) {
		discovery_displace(s);
		return;
	}
	counter_add(&srp_worker()->counters.logins_displaced, 1);
	login_refuse(login_of(s), SRP_REJ_INSUFFICIENT_RESOURCES, REFUSED_OTHER,
		     s->slot.has_spoken ? "too many logins in progress: ended the oldest"
					: "too many logins in progress: ended a silent one");
}

void login_check(struct login *l, uint64_t now)
{
	char why[80];
	if (now - l->session.start_ns <= LOGIN_TIMEOUT * SECOND)
		return;
	counter_add(&srp_worker()->counters.logins_timed_out, 1);
	snprintf(why, sizeof why,
		 l->request ? "the older session of the initiator did not end within %u s"
			    : "no LOGIN_REQ within %u s",
		 LOGIN_TIMEOUT);
	login_refuse(l, SRP_REJ_INSUFFICIENT_RESOURCES, REFUSED_TIMEOUT, why);
}

void login_stop(struct login *l)
{
	login_refuse(l, SRP_REJ_UNABLE_TO_ESTABLISH, REFUSED_OTHER, "the target is stopping");
}
