// SPDX-License-Identifier: BSD-2-Clause
// The connecting side of MPA's startup. RFC 5044 7.1, RFC 6581. On the worker's thread.
#include <errno.h>
#include <string.h>

#include "transport/rdma/iwarp/startup.h"

#define CONNECT_USEC 10000000u
#define NUDGE_USEC   100000u // twice as long from one to the next
#define NUDGES_MAX   6u

static const struct stream_ops stream_ops;

static void connect_failed(struct iw_qp *qp, int code, const char *text)
{
	struct err e;

	err_set(&e, code, "iwarp: %s", text);
	iw_end(qp, &e);
}

static void on_connect_timeout(struct timer *t)
{
	struct iw_qp *qp = container_of(t, struct iw_qp, timer);

	connect_failed(
		qp, -ETIMEDOUT,
		qp->state == IW_CONNECTING
			? "connect: timeout"
			: "connect: timeout waiting for an MPA reply (peer may not support iWARP)");
}

static int open_stream(struct iw_qp *qp, struct err *e)
{
	const struct tcp_addr *from =
		qp->connect_from.sa.sa_family == AF_UNSPEC ? NULL : &qp->connect_from;

	qp->state = IW_CONNECTING;
	qp->startup_have = 0;
	return stream_connect(&qp->stream, qp->worker, &qp->connect_to, from, 0, &stream_ops, qp,
			      e);
}

static void on_connected(struct stream *s)
{
	struct iw_qp *qp = stream_arg(s);
	struct mpa_frame f = {
		.flags = (uint8_t)((qp->wants_crc ? MPA_C : 0) | (qp->revision > 1 ? MPA_S : 0)),
		.revision = qp->revision,
		.ird = (uint16_t)qp->qp.reads_in,
		.ord = (uint16_t)qp->qp.reads_out,
		.private_data = qp->private_data,
		.private_len = qp->private_len,
	};

	iw_set_tos(qp);
	qp->state = IW_REPLY;
	if (!iw_send_frame(qp, &f))
		connect_failed(qp, -ECONNRESET, "connect: peer closed the connection");
}

// A peer with revision 1 only mistook our enhanced data for private data: retry without it.
static void connect_again(struct iw_qp *qp)
{
	struct err e;

	qp->revision = 1;
	stream_free(qp->stream);
	qp->stream = NULL;
	if (open_stream(qp, &e) < 0)
		iw_end(qp, &e);
}

// 0, or the term_code of a missing property of the reply.
static unsigned take_depths(struct iw_qp *qp)
{
	const struct mpa_frame *f = &qp->peer_frame;

	if (qp->revision < 2)
		return 0;
	if (!(f->flags & MPA_S))
		return TERM_MPA_STARTUP;
	if (f->ord != MPA_NO_NEGOTIATION) {
		// More reads than we requested are fine as long as we can hold them, as in Linux; a
		// peer that follows RFC 6581 does not send that.
		if (f->ord > RNIC_READS_MAX)
			return TERM_MPA_IRD;
		qp->qp.reads_in = f->ord;
	}
	if (f->ird != MPA_NO_NEGOTIATION)
		iw_lower(&qp->qp.reads_out, f->ird);
	return 0;
}

// Linux's siw sends its reply before it watches the socket for FPDUs: one that arrives in between
// is not read until more data arrives. So until the passive side's first Send we send more: RDMA
// Writes of no bytes, which need no memory (RFC 5040 5.1). Linux's ib_srpt sends such a Write
// itself, at once: that says nothing of what was read.
static void on_nudge(struct timer *t)
{
	struct iw_qp *qp = container_of(t, struct iw_qp, nudge);

	if (qp->state != IW_RUNNING || qp->send_msn_in > 1 || qp->nudges == NUDGES_MAX)
		return;
	if (qp->qp.bytes_out)
		iw_tx_nothing(qp);
	if (!qp->is_over)
		timer_arm(qp->worker, &qp->nudge, NUDGE_USEC << qp->nudges++);
}

static void reply_in(struct iw_qp *qp)
{
	const struct mpa_frame *f = &qp->peer_frame;

	if (f->revision == 1 && qp->revision == 2) {
		connect_again(qp);
		return;
	}
	timer_cancel(qp->worker, &qp->timer);
	if (f->flags & MPA_R) {
		qp->qp.ops->rejected(&qp->qp, f->private_data, f->private_len);
		connect_failed(qp, -ECONNREFUSED, "connect: refused by the peer");
		return;
	}
	if (f->flags & MPA_M || f->revision != qp->revision) {
		connect_failed(
			qp, -EPROTO,
			f->flags & MPA_M
				? "connect: peer requires MPA markers, which are not supported"
				: "connect: peer replied with another MPA revision");
		return;
	}
	unsigned code = take_depths(qp);
	qp->has_crc = qp->wants_crc || f->flags & MPA_C;
	if (iw_running(qp, NULL) < 0) {
		connect_failed(qp, -ENOMEM, "connect: out of memory for a connection");
		return;
	}
	if (code) {
		iw_fail(qp, code, false,
			code == TERM_MPA_IRD ? "its IRD exceeds our limit"
					     : "its reply lacks the enhanced data");
		return;
	}
	qp->qp.is_established = true;
	timer_init(&qp->nudge, on_nudge);
	timer_arm(qp->worker, &qp->nudge, NUDGE_USEC);
	qp->qp.ops->established(&qp->qp, f->private_data, f->private_len);
	iw_rx_run(qp);
}

static void reply_rx(struct iw_qp *qp)
{
	struct err e = { 0 };
	int r = iw_read_frame(qp, true, &e);

	if (r < 0)
		iw_end(qp, &e);
	else if (r > 0)
		reply_in(qp);
}

// --- its stream ---

static void on_rx(struct stream *s)
{
	struct iw_qp *qp = stream_arg(s);

	worker_note_traffic(qp->worker);
	if (qp->state == IW_RUNNING)
		iw_rx_run(qp);
	else if (qp->state == IW_REPLY)
		reply_rx(qp);
}

static void on_closed(struct stream *s, int reason)
{
	struct iw_qp *qp = stream_arg(s);

	iw_lost(qp, qp->state == IW_CONNECTING ? "connect" : "connection lost", reason);
}

static const struct stream_ops stream_ops = {
	.rx = on_rx,
	.tx_ready = iw_tx_ready,
	.connected = on_connected,
	.closed = on_closed,
};

// --- connect ---

int iw_connect(const struct rnic_provider *p, struct rnic_qp **ret, struct worker *w,
	       const struct tcp_addr *peer, const struct tcp_addr *local,
	       const struct rnic_qp_options *o, const struct rnic_qp_ops *ops, void *owner,
	       struct err *e)
{
	int r = iw_check_private(o->private_len, RNIC_PRIVATE_REQ_MAX, e);

	if (r < 0)
		return r;
	struct iw_qp *qp = iw_qp_new(p, w, e);
	if (!qp)
		return -ENOMEM;
	iw_init_head(qp, o, ops, owner);
	qp->connect_to = qp->qp.peer_addr = *peer;
	if (local)
		qp->connect_from = *local;
	qp->revision = 2;
	qp->private_len = o->private_len;
	if (o->private_len)
		memcpy(qp->private_data, o->private_data, o->private_len);
	r = open_stream(qp, e);
	if (r < 0) {
		iw_qp_delete(qp);
		return r;
	}
	timer_init(&qp->timer, on_connect_timeout);
	timer_arm(w, &qp->timer, o->timeout_usec ? o->timeout_usec : CONNECT_USEC);
	*ret = &qp->qp;
	return 0;
}
