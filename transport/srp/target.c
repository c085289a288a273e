// SPDX-License-Identifier: BSD-2-Clause
// The target's end of a channel: accept with the LOGIN_RSP, end, statistics. T10 SRP 5.1, 6.3 to
// 6.5. The connection's worker.
#include "transport/srp/target.h"

#include <errno.h>
#include <stdlib.h>

#include "transport/srp/target_priv.h"

// --- called by the queue pair ---

static void on_established(struct rnic_qp *qp, const uint8_t *private_data, uint32_t len)
{
	if (!qp->last_rx_ns)
		qp->last_rx_ns = worker_now(qp->rnic->worker);
}

static void on_received(struct rnic_qp *qp, struct rnic_rx *rx)
{
	srpc_received(qp->owner, rx);
}

static void on_rejected(struct rnic_qp *qp, const uint8_t *private_data, uint32_t len)
{
	// Only the connecting side is rejected.
}

static void on_closed(struct rnic_qp *qp, const struct err *e)
{
	struct srp_channel *ch = qp->owner;
	ch->is_closed = true;
	srpc_drop_held(ch);
	srpc_drop_waits(ch);
	ch->up->closed(ch, e);
}

static const struct rnic_qp_ops qp_ops = {
	.established = on_established,
	.received = on_received,
	.rejected = on_rejected,
	.closed = on_closed,
};

// --- start ---

static void channel_init(struct srp_channel *ch, const struct rnic_request *q,
			 const struct srp_channel_options *o)
{
	ch->worker = q->rnic->worker;
	ch->rnic = q->rnic;
	ch->carrier = q->carrier;
	ch->accept = o->accept;
	ch->imm_offset = o->accept.flags & SRP_IMMED_SUPPORTED ? o->imm_offset : 0;
	ch->credits = o->accept.credits;
	ch->drain = o->drain;
	ch->steps = &srpc_steps;
	rnic_transfers_init(&ch->transfers, q->rnic);
	rnic_sends_init(&ch->sends, &ch->transfers, SRP_SLOT);
	ch->sends.limit = o->accept.credits + SRP_TX_EXTRA;
	ch->sends.kept = o->accept.credits;
	list_push_back(&ch->drain->members, &ch->member);
	list_init(&ch->tasks);
	list_init(&ch->turns);
	list_init(&ch->table_turns);
}

static int accept_request(struct srp_channel *ch, struct rnic_request *q,
			  const struct srp_channel_options *wanted, struct err *e)
{
	uint8_t answer[SRP_LOGIN_RSP_LEN];
	const struct rnic_limits *l = &q->rnic->limits;
	struct rnic_qp_options o = { .private_data = answer,
				     .private_len = sizeof answer,
				     .tos = wanted->tos,
				     .pkey = wanted->pkey };
	srp_accept_put(answer, &wanted->accept);
	o.reads_out = l->max_reads_out < RNIC_READS_MAX ? l->max_reads_out : RNIC_READS_MAX;
	o.reads_in = q->reads_in; // none arrives, but some peers refuse fewer than they request
	int r = rnic_accept(q, &ch->qp, &o, &qp_ops, ch, e);
	ch->transfers.qp = ch->qp;
	return r;
}

static void refuse(struct rnic_request *q, uint64_t tag, enum srp_rej_reason reason)
{
	uint8_t reject[SRP_LOGIN_REJ_LEN];
	srp_reject_put(reject, tag, reason);
	rnic_reject(q, reject, sizeof reject);
}

// Memory for the channel, or a refusal of q.
static int channel_make(struct srp_channel **ret, struct rnic_request *q,
			const struct srp_channel_options *o, struct err *e)
{
	uint32_t want = o->accept.credits + SRP_RX_EXTRA;
	if (!q->reads_out) {
		refuse(q, o->accept.tag, SRP_REJ_UNABLE_TO_ESTABLISH);
		return err_set(e, -EPROTO,
			       "SRP: the initiator does not allow RDMA Reads (IRD 0), which writes "
			       "require");
	}
	struct srp_channel *ch = calloc(1, sizeof *ch);
	int r = ch ? 0 : -ENOMEM;
	if (ch) {
		channel_init(ch, q, o);
		r = rnic_sends_add(&ch->sends);
	}
	if (!r)
		r = rnic_reserve(q->rnic, want);
	if (!r) {
		ch->reserved = want;
		*ret = ch;
		return 0;
	}
	refuse(q, o->accept.tag, SRP_REJ_INSUFFICIENT_RESOURCES);
	srp_channel_free(ch);
	return err_set(e, r, "SRP: out of memory for a channel, or no registered memory");
}

int srp_channel_new(struct srp_channel **ret, struct rnic_request *q,
		    const struct srp_channel_options *o, const struct srp_channel_up *up,
		    void *role, struct err *e)
{
	struct srp_channel *ch = NULL;
	int r = channel_make(&ch, q, o, e);
	if (r < 0)
		return r;
	ch->up = up;
	ch->role = role;
	r = accept_request(ch, q, o, e);
	if (r < 0) {
		ch->qp = NULL;
		srp_channel_free(ch);
		return r;
	}
	*ret = ch;
	return 0;
}

void srp_channel_free(struct srp_channel *ch)
{
	if (!ch)
		return;
	if (ch->reserved)
		rnic_unreserve(ch->rnic, ch->reserved);
	list_remove(&ch->member);
	rnic_qp_free(ch->qp);
	rnic_transfers_done(&ch->transfers);
	rnic_sends_done(&ch->sends);
	free(ch);
}

void *srp_channel_role(const struct srp_channel *ch)
{
	return ch->role;
}

static uint64_t older(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

// The answer comes after what is sent before the request.
static struct srp_wait asked(const struct srp_channel *ch)
{
	uint64_t since = older(ch->cred_asked_ns, ch->event_asked_ns);
	uint64_t sent = later(ch->transfers.tx_ns, ch->qp->last_tx_ns);
	return (struct srp_wait){ since, since ? later(since, sent) : 0 };
}

void srp_channel_info(const struct srp_channel *ch, struct srp_channel_info *ret)
{
	*ret = (struct srp_channel_info){
		.peer_addr = &ch->qp->peer_addr,
		.local_addr = &ch->qp->local_addr,
		.carrier = ch->carrier,
		.rnic = ch->rnic,
		.last_rx_ns = ch->qp->last_rx_ns,
		.bytes_in = ch->qp->bytes_in,
		.bytes_out = ch->qp->bytes_out,
		.ius_in = ch->ius_in,
		.ius_out = ch->ius_out,
		.reads = srpc_reads(ch),
		.output = srpc_output(ch),
		.asked = asked(ch),
		.closing_ns = ch->is_closed ? 0 : ch->closing_ns,
		.buffers = (uint64_t)ch->sends.slab_count * BUF_MIN,
		.credits = ch->credits,
		.copied = ch->transfers.copied,
	};
}
