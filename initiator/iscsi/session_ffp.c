// SPDX-License-Identifier: BSD-2-Clause
// Full feature phase of a session, on its worker: what the target sends, and time limits. RFC 7143
// 11.6, 11.9, 11.15, 11.17 to 11.19.
#include <errno.h>
#include <string.h>

#include "initiator/iscsi/session_priv.h"
#include "transport/wire/be.h"

#define TICK_US 1000000u

typedef int control_fn(struct ini_session *s, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		       const uint8_t *data, struct err *e);

// --- responses and NOP-In ---

static int nop_in(struct ini_session *s, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		  const uint8_t *data, struct err *e)
{
	const struct iscsi_nop_in *in = (const void *)bhs;
	uint8_t answer[ISCSI_BHS_LEN] = { ISCSI_I | ISCSI_OP_NOP_OUT, ISCSI_F };
	struct iscsi_nop_out *out = (void *)answer;
	if (get_be32(in->itt) != ISCSI_TAG_NONE) {
		if (s->ping_tag && get_be32(in->itt) == s->ping_tag)
			ping_over(s, 0);
		return 0;
	}
	if (get_be32(in->ttt) == ISCSI_TAG_NONE)
		return 0; // it only updates the window
	memcpy(out->lun, in->lun, sizeof out->lun);
	memcpy(out->ttt, in->ttt, sizeof out->ttt);
	put_be32(out->itt, ISCSI_TAG_NONE);
	s->dm->ops->send(s->dm, answer, NULL, 0, false);
	return 0;
}

static int tmf_rsp(struct ini_session *s, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		   const uint8_t *data, struct err *e)
{
	tmf_response(s, bhs);
	return 0;
}

// The kernel's target releases a session only after a pause if the queue pair is closed while its
// Logout Response is being completed. It closes by itself; others do not.
#define CLOSE_TIMEOUT_USEC 50000u

static int logout_rsp(struct ini_session *s, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		      const uint8_t *data, struct err *e)
{
	const struct iscsi_logout_rsp *h = (const void *)bhs;
	if (s->state != SESSION_LOGOUT || get_be32(h->itt) != s->logout_tag)
		return err_set(e, -EPROTO, "unexpected Logout Response");
	struct err none = { 0 };
	// After another response it may still execute what was sent.
	s->scsi.is_settled = h->response == ISCSI_LOGOUT_RSP_OK;
	if (!s->wants_relogin && s->config.provider_count) {
		timer_arm(s->worker, &s->timer, CLOSE_TIMEOUT_USEC);
		return 0;
	}
	if (!s->wants_relogin) {
		session_end_asked(s);
		return 0;
	}
	err_set(&none, -ECONNABORTED, "%s: logged out at the target's request", s->dm->peer);
	session_lost(s, &none, false);
	return 0;
}

static int text_rsp(struct ini_session *s, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		    const uint8_t *data, struct err *e)
{
	if (!s->text)
		return err_set(e, -EPROTO, "unexpected Text Response");
	return s->text(s, pdu, bhs, data, e);
}

static int login_rsp(struct ini_session *s, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		     const uint8_t *data, struct err *e)
{
	return err_set(e, -EPROTO, "Login Response in full feature phase");
}

// Only the copy of the header shows what was rejected. The target has not received that CmdSN: the
// gap cannot be filled without a new connection [RFC 7143 7.3].
static int reject(struct ini_session *s, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		  const uint8_t *data, struct err *e)
{
	const struct iscsi_reject *h = (const void *)bhs;
	const struct iscsi_bhs *bad = (const void *)data;
	if (!data || pdu->data_len < ISCSI_BHS_LEN)
		return err_set(e, -EPROTO, "Reject without the rejected header");
	uint32_t itt = get_be32(bad->itt);
	uint8_t opcode = bad->opcode & ISCSI_OP_MASK;
	if (opcode == ISCSI_OP_SCSI_CMD && command_rejected(s, itt))
		return err_set(e, -EPROTO, "target rejected a SCSI command, reason 0x%02x",
			       h->reason);
	if (opcode == ISCSI_OP_TMF_REQ)
		tmf_rejected(s, itt);
	else if (opcode == ISCSI_OP_NOP_OUT && s->ping_tag && itt == s->ping_tag)
		ping_over(s, 0);
	else if (opcode == ISCSI_OP_TEXT_REQ || opcode == ISCSI_OP_LOGOUT_REQ)
		return err_set(e, -EPROTO, "target rejected a %s, reason 0x%02x",
			       iscsi_opcode_name(opcode), h->reason);
	return 0;
}

// --- asynchronous messages ---

static void async_scsi(struct ini_session *s, const struct iscsi_pdu *pdu, const uint8_t *data)
{
	uint32_t n = data && pdu->data_len >= 2 ? get_be16(data) : 0;
	if (n && n <= pdu->data_len - 2)
		s->scsi.ops.async(&s->scsi, data + 2, n);
}

static int async(struct ini_session *s, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		 const uint8_t *data, struct err *e)
{
	const struct iscsi_async *h = (const void *)bhs;
	switch (h->event) {
	case ISCSI_ASYNC_SCSI:
		async_scsi(s, pdu, data);
		return 0;
	case ISCSI_ASYNC_LOGOUT:
	case ISCSI_ASYNC_RENEGOTIATE:
		// Logs out when nothing is in flight, and in again: a new login renegotiates.
		if (s->state == SESSION_UP) {
			s->is_draining = s->wants_relogin = true;
			scsi_session_pump(&s->scsi);
		}
		return 0;
	case ISCSI_ASYNC_DROP_CONNECTION:
	case ISCSI_ASYNC_DROP_SESSION:
		s->time2wait = get_be16(h->param2);
		return err_set(e, -ECONNRESET, "target dropped the %s",
			       h->event == ISCSI_ASYNC_DROP_SESSION ? "session" : "connection");
	default:
		return 0;
	}
}

static const struct {
	uint8_t opcode;
	control_fn *run;
} controls[] = {
	{ISCSI_OP_NOP_IN,	   nop_in	  },
	     { ISCSI_OP_TMF_RSP,	 tmf_rsp	 },
	{ ISCSI_OP_TEXT_RSP,   text_rsp  },
	     { ISCSI_OP_LOGIN_RSP,  login_rsp },
	{ ISCSI_OP_LOGOUT_RSP, logout_rsp},
	     { ISCSI_OP_ASYNC,      async     },
	{ ISCSI_OP_REJECT,	   reject	  },
};

int ffp_control(struct ini_session *s, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		const uint8_t *data, struct err *e)
{
	for (unsigned i = 0; i < sizeof controls / sizeof *controls; i++)
		if (controls[i].opcode == pdu->opcode)
			return controls[i].run(s, pdu, bhs, data, e);
	return err_set(e, -EPROTO, "unexpected PDU: %s", iscsi_opcode_name(pdu->opcode));
}

// --- every second ---

// A target that neither executes nor aborts is considered dead.
static void tmf_tick(struct ini_session *s, uint64_t now)
{
	struct err e;
	if (!tmf_is_overdue(s, now))
		return;
	err_set(&e, -ETIMEDOUT, "%s: task management: no answer within %u s", s->dm->peer,
		s->config.abort_timeout);
	session_lost(s, &e, false);
}

static void ping_tick(struct ini_session *s, uint64_t now)
{
	const struct ini_config *c = &s->config;
	uint64_t rx_ns = s->dm->ops->last_rx(s->dm);
	uint64_t since_ns = rx_ns > s->ping_ns ? rx_ns : s->ping_ns; // answers may be behind data
	struct err e;
	if (s->ping_tag && now >= since_ns + c->noop_out_timeout * NS_PER_SEC) {
		err_set(&e, -ETIMEDOUT, "%s: no answer to a NOP-Out within %u s", s->dm->peer,
			c->noop_out_timeout);
		if (s->ping)
			ping_over(s, -ETIMEDOUT);
		session_lost(s, &e, false);
	} else if (!s->ping_tag && c->noop_out_interval &&
		   now >= rx_ns + c->noop_out_interval * NS_PER_SEC) {
		ping_send(s);
	}
}

static void on_tick(struct timer *t)
{
	struct ini_session *s = container_of(t, struct ini_session, tick);
	uint64_t now = worker_now(s->worker);
	timer_arm(s->worker, t, TICK_US);
	scsi_session_tick(&s->scsi, now);
	if (s->state == SESSION_UP)
		tmf_tick(s, now);
	if (s->state == SESSION_UP && !s->info.params.is_discovery)
		ping_tick(s, now);
}

void session_enter_up(struct ini_session *s)
{
	s->state = SESSION_UP;
	s->has_redirect = false;
	s->redirects = 0;
	s->is_down = false;
	s->time2wait = s->info.params.time2wait;
	timer_init(&s->tick, on_tick);
	timer_arm(s->worker, &s->tick, TICK_US);
	scsi_session_enter_up(&s->scsi);
}
