// SPDX-License-Identifier: BSD-2-Clause
// The initiator's end of a channel: its life, on the worker that owns it, from the login, which is
// the private data of the connect, to the close. T10 SRP 5.4, 5.6, 6.3 to 6.5.
#include "transport/srp/initiator.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/srp/initiator_priv.h"

_Static_assert((int)SRP_LOGIN_REQ_CM_LEN <= (int)RNIC_PRIVATE_REQ_MAX, "a login fits a connect");
_Static_assert((int)SRP_IMM_OFFSET + (int)SRP_IMM_MAX <= (int)SRP_IT_IU_MAX, "own IUs");

static uint32_t min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

// --- the login is answered ---

static int check_accept(struct srpi_channel *ch, struct err *e)
{
	const struct srp_accept *a = &ch->accept;
	if (a->tag != ch->login_tag)
		return err_set(e, -EPROTO, "SRP: LOGIN_RSP to another login");
	if (a->credits < 2)
		return err_set(e, -EPROTO,
			       "SRP: LOGIN_RSP: a request limit of %u (at least 2 are needed: one "
			       "is kept for task management)",
			       a->credits);
	if (!(a->formats & SRP_FMT_DIRECT))
		return err_set(e, -EPROTO,
			       "SRP: LOGIN_RSP: the target does not support direct descriptors");
	if (a->ti_iu_len > RNIC_RX_SIZE)
		return err_set(e, -EPROTO,
			       "SRP: LOGIN_RSP: the target sends IUs of %u bytes (at most %d are "
			       "received)",
			       a->ti_iu_len, RNIC_RX_SIZE);
	return 0;
}

static void apply_accept(struct srpi_channel *ch)
{
	const struct srp_accept *a = &ch->accept;
	uint32_t table = SRP_CMD_LEN + SRP_INDIRECT_LEN;
	uint32_t keys = a->it_iu_len > table ? (a->it_iu_len - table) / SRP_DIRECT_LEN : 0;
	ch->credits = a->credits;
	ch->keys_max = a->formats & SRP_FMT_INDIRECT && keys > 1 ? min32(keys, RNIC_KEYS_MAX) : 1;
	if (ch->wants_immediate && a->flags & SRP_IMMED_SUPPORTED && a->it_iu_len > SRP_IMM_OFFSET)
		ch->imm_max = min32(a->it_iu_len - SRP_IMM_OFFSET, SRP_IMM_MAX);
}

static int open(struct srpi_channel *ch, const uint8_t *data, uint32_t len, struct err *e)
{
	int r = srp_accept_parse(&ch->accept, data, len, e);
	if (!r)
		r = check_accept(ch, e);
	if (r)
		return r;
	// The target sends nothing before the first IU: receive buffers are early enough here.
	r = rnic_reserve(ch->qp->rnic, SRPI_RX);
	if (r < 0)
		return err_errno(e, r, "receive buffers");
	ch->is_reserved = true;
	return rnic_slots_open(&ch->slots, e);
}

static void on_established(struct rnic_qp *qp, const uint8_t *private_data, uint32_t len)
{
	struct srpi_channel *ch = qp->owner;
	struct err e;
	ch->is_established = true;
	snprintf(ch->transport, sizeof ch->transport, "SRP (%.20s)", qp->rnic->name);
	if (ch->slots.is_closing)
		return;
	if (open(ch, private_data, len, &e) < 0) {
		rnic_slots_close(&ch->slots, &e);
		return;
	}
	apply_accept(ch);
	ch->is_up = true;
	ch->up->up(ch, &ch->accept);
}

// closed follows, and tells it.
static void on_rejected(struct rnic_qp *qp, const uint8_t *private_data, uint32_t len)
{
	struct srpi_channel *ch = qp->owner;
	enum srp_rej_reason reason;
	struct err e;
	if (srp_reject_parse(&reason, private_data, len, &e) < 0)
		return;
	const char *text = srp_reject_text(reason);
	ch->reject_reason = reason;
	err_set(&ch->reject, -ECONNREFUSED, "SRP: login refused, reason 0x%08x: %s", reason,
		text ? text : "unknown");
}

// --- closed ---

static void on_closed(struct rnic_qp *qp, const struct err *why)
{
	struct srpi_channel *ch = qp->owner;
	struct err e = *why;
	if (ch->reject_reason)
		e = ch->reject;
	else if (!ch->is_established && !ch->slots.is_closing)
		rnic_connect_failed(&e, "SRP", why);
	ch->is_up = false;
	if (ch->is_reserved)
		rnic_unreserve(qp->rnic, SRPI_RX);
	rnic_slots_closed(&ch->slots);
	if (ch->has_tmf)
		ch->up->tmf_done(ch, -EPIPE);
	ch->has_tmf = false;
	ch->up->closed(ch, &e);
}

static const struct rnic_qp_ops qp_ops = {
	.established = on_established,
	.received = srpi_received,
	.rejected = on_rejected,
	.closed = on_closed,
};

// --- new, close, free ---

// Longest IU that this end sends.
static uint32_t own_iu_len(const struct srpi_channel *ch, const struct srpi_options *o)
{
	uint32_t len = ch->wants_immediate ? SRP_IMM_OFFSET + SRP_IMM_MAX : SRPI_HEADER_MAX;
	if (o->it_iu_len && o->it_iu_len < len)
		len = o->it_iu_len;
	return len < SRP_IU_MIN ? SRP_IU_MIN : len;
}

static void put_login(const struct srpi_channel *ch, const struct srpi_options *o,
		      uint8_t ret[SRP_LOGIN_REQ_CM_LEN])
{
	struct srp_login l = {
		.tag = ch->login_tag,
		.it_iu_len = own_iu_len(ch, o),
		.formats = SRP_FMT_DIRECT | SRP_FMT_INDIRECT,
		.flags = o->is_additional ? SRP_MULTICHAN_MULTI : SRP_MULTICHAN_SINGLE,
	};
	if (ch->wants_immediate) {
		l.flags |= SRP_IMMED_REQUESTED;
		l.imm_offset = SRP_IMM_OFFSET;
	}
	memcpy(l.initiator, o->initiator, SRP_PORT_ID_LEN);
	memcpy(l.target, o->target, SRP_PORT_ID_LEN);
	srp_login_put_cm(ret, &l);
}

int srpi_new(struct srpi_channel **ret, struct worker *w, const struct srpi_options *o,
	     const struct srpi_up *up, void *role, struct err *e)
{
	struct srpi_channel *ch = calloc(1, sizeof *ch);
	uint8_t login[SRP_LOGIN_REQ_CM_LEN];
	if (!ch)
		return err_set(e, -ENOMEM, "out of memory for a channel");
	ch->worker = w;
	ch->up = up;
	ch->role = role;
	ch->login_tag = clock_ns();
	ch->number = o->number;
	ch->wants_immediate = !o->has_no_immediate;
	ch->tasks_max = o->tasks && o->tasks < SRPI_TASKS_MAX ? o->tasks : SRPI_TASKS_MAX;
	snprintf(ch->transport, sizeof ch->transport, "SRP");
	put_login(ch, o, login);
	const struct rnic_qp_options qo = { .send_depth = SRPI_SLOTS,
					    .reads_out = 1, // unused; some peers refuse 0
					    .reads_in = RNIC_READS_MAX,
					    .private_data = login,
					    .private_len = sizeof login,
					    .timeout_usec = o->timeout_usec };
	int r = rnic_connect(o->provider, &ch->qp, w, o->peer, o->local, &qo, &qp_ops, ch, e);
	if (r < 0) {
		free(ch);
		return r;
	}
	srpi_tx_init(ch);
	*ret = ch;
	return 0;
}

void srpi_close(struct srpi_channel *ch, bool is_logout, const struct err *why)
{
	if (is_logout && ch->is_up && !ch->slots.is_closing && ch->credits > 0) {
		srpi_answer(ch, SRP_I_LOGOUT, srpi_tag(ch, 0));
		ch->slots.is_closing = true;
		rnic_close(ch->qp, true, why);
	} else if (!is_logout) { // also ends the wait for I_LOGOUT to be sent
		ch->slots.is_closing = true;
		rnic_close(ch->qp, false, why);
	} else {
		rnic_slots_close(&ch->slots, why);
	}
}

void srpi_free(struct srpi_channel *ch)
{
	if (!ch)
		return;
	rnic_qp_free(ch->qp);
	rnic_slots_free(&ch->slots);
	free(ch);
}

// --- what is known of it ---

void *srpi_role(const struct srpi_channel *ch)
{
	return ch->role;
}

void srpi_info(const struct srpi_channel *ch, struct srpi_info *ret)
{
	*ret = (struct srpi_info){ .peer_addr = &ch->qp->peer_addr,
				   .local_addr = &ch->qp->local_addr,
				   .transport = ch->transport,
				   .accept = ch->accept,
				   .reject = ch->reject_reason };
}

uint64_t srpi_last_rx(const struct srpi_channel *ch)
{
	return ch->qp->last_rx_ns;
}

uint32_t srpi_immediate_max(const struct srpi_channel *ch)
{
	return ch->imm_max;
}
