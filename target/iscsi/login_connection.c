// SPDX-License-Identifier: BSD-2-Clause
// Drives the login of a connection: passes its PDUs to the login's state machine
// (transport/iscsi/login_target.c), whose questions login_admit.c and login_attach.c answer; sends
// the responses; waits; ends what takes too long; begins full feature phase. RFC 7143 6.3.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/counter.h"
#include "core/log.h"
#include "target/fabric/fabric.h"
#include "target/fabric/peer_log.h"
#include "target/fabric/portal.h"
#include "target/iscsi/login.h"
#include "target/iscsi/worker.h"

#define WINDOW_LOGIN  64 // preset; the session's value follows with attach
#define LOGINS_LOGGED 16 // logins of one address in PEER_LOG_S seconds

static const struct login_target_ops login_answers = {
	.admit = login_admit,
	.attach = login_attach,
};

static void login_failed(struct conn *c, const struct login_reply *r)
{
	struct fabric_counters *n = &iscsi_worker()->counters;
	enum refusal_cause why = REFUSED_OTHER;
	counter_add(&n->logins_failed, 1);
	switch (r->status) {
	case ISCSI_LOGIN_AUTH_FAILED:
		counter_add(&n->failed_auth, 1);
		why = REFUSED_AUTH;
		break;
	case ISCSI_LOGIN_FORBIDDEN:
		counter_add(&n->failed_acl, 1);
		why = REFUSED_ACL;
		break;
	case ISCSI_LOGIN_NOT_FOUND:
		counter_add(&n->failed_target, 1);
		why = REFUSED_TARGET;
		break;
	default:
		counter_add(&n->failed_other, 1);
	}
	portal_note_failure(c->session.portal, why);
	refusal_note(c->names.initiator_name, c->names.target_name, c->dm->peer, why, r->status,
		     r->err.text);
	char cause[40] = "login dropped";
	if (r->has_pdu)
		snprintf(cause, sizeof cause, "login refused, status %04x", r->status);
	if (peer_log_permits(LOG_LVL_WARN, c->session.fabric->name, cause, &c->dm->peer_addr))
		session_log(&c->session, LOG_LVL_WARN, "%s: %s", cause, r->err.text);
}

static void log_login(const struct conn *c)
{
	if (!peer_log_permits_some(LOG_LVL_INFO, c->session.fabric->name, "login ok",
				   &c->dm->peer_addr, LOGINS_LOGGED))
		return;
	session_log(&c->session, LOG_LVL_INFO,
		    "login ok transport=%s carrier=%s auth=%s%s digests=%s,%s", c->dm->transport,
		    c->dm->carrier,
		    c->proof.is_mutual ? "mutual-chap"
		    : c->proof.alg     ? "chap"
				       : "none",
		    c->params.is_discovery ? " discovery" : "",
		    c->params.header_digest ? "header" : "none",
		    c->params.data_digest ? "data" : "none");
}

// Applies the negotiated values; from now on commands, or discovery.
static void full_feature_begin(struct conn *c)
{
	struct iscsi_worker *iw = iscsi_worker();
	const struct login_session *s = login_session(c->login);
	c->params = *login_params(c->login);
	c->names = *login_names(c->login);
	c->proof = *login_proof(c->login);
	c->session.is_authenticated = c->proof.alg != 0;
	c->sns = (struct dm_sns){ login_stat_sn(c->login), s->exp_cmd_sn, s->max_cmd_sn };
	login_done(c->login);
	free(c->login);
	c->login = NULL;
	c->session.state = SESSION_LIVE;
	c->session.is_discovery = c->params.is_discovery;
	c->dm->window = c->window;
	if (c->session.nexus)
		c->session.nexus->info.unsolicited = c->params.first_burst;
	c->dm->ops->full_feature(c->dm, &c->params);
	if (!c->params.is_discovery)
		login_slot_leave(
			&c->session); // discovery is open to all: the limits of logins still apply
	counter_add(&iw->counters.logins_ok, 1);
	portal_note_login(c->session.portal);
	log_login(c);
	view_put(c->view);
	c->view = NULL;
	// The connection has missed changes published during the login.
	struct view *v = view_current(c->session.fabric);
	session_follow(&c->session, v);
	view_put(v);
}

static void login_act(struct conn *c, const struct login_reply *r)
{
	if (r->has_pdu)
		c->dm->ops->send(c->dm, r->bhs, r->text, r->text_len, DM_IS_LOGIN);
	switch (r->outcome) {
	case LOGIN_FULL_FEATURE:
		full_feature_begin(c);
		break;
	case LOGIN_REFUSED:
	case LOGIN_DROP:
		login_failed(c, r);
		conn_close(c, true, "login refused: %s", r->err.text);
		break;
	default:
		break; // CONTINUE and WAIT
	}
}

// Memory for a login is allocated only after a complete request.
static int login_begin(struct conn *c, struct err *e)
{
	c->login = malloc(sizeof *c->login);
	if (!c->login)
		return err_set(e, -ENOMEM, "no memory for a login");
	login_target_init(c->login, &login_answers, c, 1, WINDOW_LOGIN);
	return 0;
}

int login_pdu(struct conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len, struct err *e)
{
	struct login_reply r;
	if (!c->login && login_begin(c, e) < 0)
		return e->code;
	login_slot_progress(&c->session);
	login_target_step(c->login, bhs, data, len, &r);
	login_act(c, &r);
	return 0;
}

// The wait is over.
static void resume(struct conn *c)
{
	struct login_reply r;
	struct login_session s = *login_session(c->login);
	struct err e = { 0 };
	int status = login_attach_again(c, &s, &e);
	if (status == -EINPROGRESS)
		return;
	login_target_resume(c->login, status, &s, &e, &r);
	login_act(c, &r);
	c->dm->ops->flush(c->dm);
}

void login_resume(struct msg *m)
{
	struct conn *c = container_of(m, struct conn, resume_msg);
	if (c->session.state == SESSION_LOGIN && c->login && login_is_waiting(c->login))
		resume(c);
	conn_release(c);
}

static void login_end(struct conn *c, int status, const struct err *why)
{
	struct login_reply r = { .outcome = LOGIN_DROP };
	if (c->login)
		login_target_refuse(c->login, status, why, &r);
	r.err = *why;
	r.status = (uint16_t)status; // recorded in the table of refusals, with or without a
				     // response
	login_act(c, &r);
	c->dm->ops->flush(c->dm);
}

void login_expired(struct conn *c)
{
	struct err why;
	counter_add(&iscsi_worker()->counters.logins_timed_out, 1);
	portal_note_failure(c->session.portal, REFUSED_TIMEOUT);
	err_set(&why, -ETIMEDOUT, "login not finished after %u s", c->login_timeout);
	login_end(c, ISCSI_LOGIN_TARGET_ERROR, &why);
}

void login_displaced(struct conn *c)
{
	struct err why;
	counter_add(&iscsi_worker()->counters.logins_displaced, 1);
	login_slot_leave(&c->session);
	err_set(&why, -EBUSY, "too many logins in progress: ended %s",
		c->session.state != SESSION_LOGIN ? "a discovery session"
		: c->session.slot.has_spoken	  ? "the oldest"
						  : "a silent one");
	if (c->session.state == SESSION_LOGIN)
		login_end(c, ISCSI_LOGIN_OUT_OF_RESOURCES, &why);
	conn_close(c, false, "%s", why.text); // read or not
}
