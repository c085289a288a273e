// SPDX-License-Identifier: BSD-2-Clause
// The target's end of a channel, sending side: responses, credits, the close, task management
// responses that wait for RDMA in flight, and the IUs that the initiator answers. T10 SRP 5.2, 6.9
// to 6.15. The connection's worker.
//
// A RSP returns the credit of its command, and those of commands that got none. When no RSP is to
// be expected CRED_REQ does. All sends are solicited: it costs nothing, and initiators that wait
// for solicited events only are woken whatever they have asked for.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "transport/srp/target_priv.h"
#include "transport/wire/be.h"

enum { STATUS_BUSY = 0x08 }; // SAM

// --- close ---

void srpc_fail(struct srp_channel *ch, int code, const char *fmt, ...)
{
	struct err why = { .code = code };
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why.text, sizeof why.text, fmt, ap);
	va_end(ap);
	if (ch->is_closed)
		return;
	ch->is_closing = true;
	rnic_close(ch->qp, false, &why);
}

// --- credits ---

// The credits that the next IU carries: those owed, and its own, which is 1 of a response.
static uint32_t credits_take(struct srp_channel *ch, uint32_t own)
{
	uint32_t n = own + ch->owed;
	ch->owed = 0;
	ch->credits += n;
	return n;
}

// --- sends ---

static bool is_open(const struct srp_channel *ch)
{
	return !ch->is_closing && !ch->is_closed;
}

static struct rnic_send *tx_get(struct srp_channel *ch, uint32_t len)
{
	struct rnic_send *tx;
	int r = rnic_send_get(&ch->sends, &tx, len);
	if (!r)
		return tx;
	if (r == -EAGAIN)
		srpc_fail(ch, -ENOBUFS, "SRP: the initiator does not receive its responses");
	else
		srpc_fail(ch, r, "SRP: out of memory for a response");
	return NULL;
}

// The completion need not wake us: the next command does.
static void tx_post(struct srp_channel *ch, struct rnic_send *tx, uint32_t len)
{
	int r = rnic_send_post(tx, len, RNIC_SOLICITED | RNIC_LAZY);
	if (r < 0)
		srpc_fail(ch, r, "SRP: cannot post a send");
	else
		ch->ius_out++;
}

// --- responses ---

static uint32_t response_len(const struct srp_channel *ch, const struct srp_response *r)
{
	uint32_t most = ch->accept.ti_iu_len < BUF_MIN ? ch->accept.ti_iu_len : BUF_MIN;
	uint64_t len = (uint64_t)SRP_RSP_LEN + SRP_RSP_DATA_LEN + r->sense_len;
	return len < most ? (uint32_t)len : most;
}

// task: NULL, or the one that it ends.
static void response_send(struct srp_channel *ch, struct srp_response *r, struct srp_task *task,
			  void (*done)(struct rnic_wr *wr, int res))
{
	uint32_t len = response_len(ch, r);
	struct rnic_send *tx = is_open(ch) ? tx_get(ch, len) : NULL;
	if (!tx)
		return;
	r->credits = (int32_t)credits_take(ch, 1);
	if (task) {
		tx->task = task;
		tx->wr.done = done;
		task->pending++;
		task->has_answer = true;
	}
	tx_post(ch, tx, srp_response_put(tx->sge.addr, len, r));
}

void srpc_send_result(struct srp_task *t, const struct srp_result *r,
		      void (*done)(struct rnic_wr *wr, int res))
{
	struct srp_response rsp = { .tag = t->tag };
	if (t->is_refused) {
		rsp.has_code = true;
		rsp.code = SRP_RSP_INVALID_FIELDS;
	} else {
		rsp.flags = r->flags;
		rsp.status = r->status;
		rsp.out_residual = r->out_residual;
		rsp.in_residual = r->in_residual;
		rsp.sense = r->sense;
		rsp.sense_len = r->sense_len;
	}
	response_send(t->channel, &rsp, t, done);
}

void srpc_send_invalid(struct srp_channel *ch, uint64_t tag)
{
	struct srp_response rsp = { .tag = tag, .has_code = true, .code = SRP_RSP_INVALID_FIELDS };
	response_send(ch, &rsp, NULL, NULL);
}

void srpc_send_busy(struct srp_channel *ch, uint64_t tag)
{
	struct srp_response rsp = { .tag = tag, .status = STATUS_BUSY };
	response_send(ch, &rsp, NULL, NULL);
}

// --- task management ---

static void held_send(struct rnic_held *h)
{
	struct rnic_send *tx = container_of(h, struct rnic_send, held);
	struct srp_channel *ch = srp_channel_of(tx);
	struct srp_rsp *rsp = (void *)tx->sge.addr;
	if (!is_open(ch)) {
		rnic_send_put(tx);
		return;
	}
	put_be32(rsp->req_lim_delta, credits_take(ch, 1));
	tx_post(ch, tx, SRP_RSP_LEN + SRP_RSP_DATA_LEN);
}

void srpc_send_tmf(struct srp_channel *ch, uint64_t tag, enum srp_rsp_code code)
{
	const struct srp_response rsp = { .tag = tag, .has_code = true, .code = (uint8_t)code };
	struct rnic_send *tx = is_open(ch) ? tx_get(ch, SRP_RSP_LEN + SRP_RSP_DATA_LEN) : NULL;
	if (!tx)
		return;
	srp_response_put(tx->sge.addr, SRP_RSP_LEN + SRP_RSP_DATA_LEN, &rsp);
	tx->held.send = held_send;
	rnic_drain_send(ch->drain, &tx->held);
}

void srpc_drop_held(struct srp_channel *ch)
{
	list_each_safe (struct rnic_held, h, &ch->drain->held, link) {
		struct rnic_send *tx = container_of(h, struct rnic_send, held);
		if (srp_channel_of(tx) != ch)
			continue;
		rnic_drain_forget(ch->drain, h);
		rnic_send_put(tx);
	}
}

// --- IUs that the initiator answers ---

static bool short_send(struct srp_channel *ch, enum srp_opcode opcode, uint64_t tag, uint32_t value)
{
	struct rnic_send *tx = tx_get(ch, SRP_SHORT_LEN);
	if (!tx)
		return false;
	srp_short_put(tx->sge.addr, opcode, tag, value);
	tx_post(ch, tx, SRP_SHORT_LEN);
	return true;
}

static bool cred_req_send(struct srp_channel *ch)
{
	if (!is_open(ch) || !ch->has_heard || ch->cred_asked_ns)
		return false;
	ch->cred_tag = ++ch->last_tag;
	ch->cred_asked_ns = worker_now(ch->worker);
	return short_send(ch, SRP_CRED_REQ, ch->cred_tag, credits_take(ch, 0));
}

// Sends CRED_REQ if credits are owed and nothing else will carry them soon.
static void offer_credits(struct srp_channel *ch)
{
	uint32_t limit = ch->accept.credits;
	bool is_idle = ch->credits + ch->owed == limit; // no response is to be expected
	if (ch->owed && (is_idle || ch->owed >= limit / 2))
		cred_req_send(ch);
}

void srpc_owe(struct srp_channel *ch)
{
	ch->owed++;
	offer_credits(ch);
}

bool srp_ping(struct srp_channel *ch)
{
	return cred_req_send(ch);
}

void srpc_on_cred_rsp(struct srp_channel *ch, uint64_t tag)
{
	if (!ch->cred_asked_ns || tag != ch->cred_tag) {
		srpc_logout(ch, SRP_LOGOUT_SPURIOUS_RSP, -EPROTO, "SRP: unexpected CRED_RSP");
		return;
	}
	ch->cred_asked_ns = 0;
	offer_credits(ch);
}

bool srp_send_event(struct srp_channel *ch, const uint8_t lun[8], const uint8_t *sense,
		    uint32_t len)
{
	if (!is_open(ch) || !ch->has_heard || ch->event_asked_ns)
		return false;
	uint32_t most = ch->accept.ti_iu_len < SRP_SLOT ? ch->accept.ti_iu_len : SRP_SLOT;
	struct rnic_send *tx = tx_get(ch, most);
	if (!tx)
		return false;
	struct srp_event v = {
		.tag = ++ch->last_tag, .lun = lun, .sense = sense, .sense_len = len
	};
	v.credits = (int32_t)credits_take(ch, 0);
	ch->event_tag = v.tag;
	ch->event_asked_ns = worker_now(ch->worker);
	tx_post(ch, tx, srp_event_put(tx->sge.addr, most, &v));
	return true;
}

void srpc_on_aer_rsp(struct srp_channel *ch, uint64_t tag)
{
	if (!ch->event_asked_ns || tag != ch->event_tag)
		srpc_logout(ch, SRP_LOGOUT_SPURIOUS_RSP, -EPROTO, "SRP: unexpected AER_RSP");
	else
		ch->event_asked_ns = 0;
}

// --- graceful close ---

void srp_channel_close(struct srp_channel *ch, bool is_graceful, enum srp_logout_reason reason,
		       const struct err *why)
{
	if (ch->is_closed)
		return;
	if (is_graceful && !ch->is_closing) {
		ch->closing_ns = worker_now(ch->worker);
		if (ch->has_heard)
			short_send(ch, SRP_T_LOGOUT, ++ch->last_tag, reason);
	}
	ch->is_closing = true;
	rnic_close(ch->qp, is_graceful, why);
}

void srpc_logout(struct srp_channel *ch, enum srp_logout_reason reason, int code, const char *fmt,
		 ...)
{
	struct err why = { .code = code };
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why.text, sizeof why.text, fmt, ap);
	va_end(ap);
	srp_channel_close(ch, true, reason, &why);
}
