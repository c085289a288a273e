// SPDX-License-Identifier: BSD-2-Clause
// The life of a connection: events of its stream, close, end. On the worker's thread.
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "core/counter.h"
#include "transport/rdma/iwarp/iw_priv.h"

#define LINGER_USEC 10000000u // for sending what was posted

static void on_rx(struct stream *s)
{
	struct iw_qp *qp = stream_arg(s);

	worker_note_traffic(qp->worker);
	if (qp->state == IW_RUNNING)
		iw_rx_run(qp);
	else
		iw_startup_rx(qp);
}

static void on_tx_ready(struct stream *s)
{
	struct iw_qp *qp = stream_arg(s);

	qp->is_tx_blocked = false;
	if (qp->state != IW_RUNNING)
		return;
	iw_tx_run(qp);
	iw_deliver(qp);
}

static void on_connected(struct stream *s)
{
	iw_connected(stream_arg(s));
}

static void on_closed(struct stream *s, int reason)
{
	struct iw_qp *qp = stream_arg(s);
	struct err e;

	if (qp->state == IW_PENDING) {
		iw_drop(qp);
		return;
	}
	err_errno(&e, reason ? reason : -ECONNRESET, "iwarp: %s",
		  qp->state == IW_CONNECTING ? "connect" : "connection lost");
	if (qp->state == IW_REQUEST)
		iw_turn_away(qp, &e);
	else
		iw_end(qp, &e);
}

const struct stream_ops iw_stream_ops = {
	.rx = on_rx,
	.tx_ready = on_tx_ready,
	.connected = on_connected,
	.closed = on_closed,
};

static void on_again(struct timer *t)
{
	iw_rx_run(container_of(t, struct iw_qp, again));
}

struct iw_qp *iw_qp_new(const struct rnic_provider *p, struct worker *w, struct err *e)
{
	struct iw_device *d = iw_device_get(p, w);
	struct iw_qp *qp = d ? calloc(1, sizeof *qp) : NULL;

	if (!qp) {
		if (d)
			iw_device_put(d);
		err_set(e, -ENOMEM, "iwarp: out of memory for a connection");
		return NULL;
	}
	qp->dev = d;
	qp->worker = w;
	timer_init(&qp->again, on_again);
	list_init(&qp->half_open);
	list_init(&qp->rx_wait.link);
	list_init(&qp->stags);
	list_init(&qp->tx);
	list_init(&qp->reads);
	list_init(&qp->done);
	list_init(&qp->finish.link);
	list_init(&qp->later.link);
	list_init(&qp->flush.link);
	return qp;
}

void iw_stop_timers(struct iw_qp *qp)
{
	if (qp->timer.fn)
		timer_cancel(qp->worker, &qp->timer);
	if (qp->nudge.fn)
		timer_cancel(qp->worker, &qp->nudge);
	timer_cancel(qp->worker, &qp->again);
}

void iw_qp_delete(struct iw_qp *qp)
{
	struct iw_device *d = qp->dev;

	iw_stop_timers(qp);
	worker_defer_cancel(&qp->finish);
	worker_defer_cancel(&qp->later);
	worker_defer_cancel(&qp->flush);
	stream_free(qp->stream);
	for (struct list *n; (n = list_first(&qp->stags));)
		iw_stag_free(&d->stags, list_entry(n, struct iw_stag, link));
	free(qp->stash);
	free(qp->irq);
	free(qp);
	iw_device_put(d);
}

#define NO_WIRE_MSS 16384 // such large segments exist only within this machine's memory

// The largest FPDU that fits a TCP segment, without pads [RFC 5044 4.5]: its payload and header.
static uint32_t mulpdu_of(int fd)
{
	int mss = 0;
	socklen_t len = sizeof mss;

	if (getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &len) < 0 || mss < 512)
		mss = 512;
	uint32_t n =
		mss < NO_WIRE_MSS ? (uint32_t)mss - MPA_LENGTH_LEN - MPA_CRC_LEN : MPA_ULPDU_MAX;
	return n - (n + MPA_LENGTH_LEN) % 4;
}

int iw_running(struct iw_qp *qp, const struct rnic_qp_options *o)
{
	// An empty read may be the first frame of a peer that was promised none.
	qp->irq_room = qp->qp.reads_in ? qp->qp.reads_in : 1;
	qp->irq = calloc(qp->irq_room, sizeof *qp->irq);
	if (!qp->irq)
		return -ENOMEM;
	stream_tune_local(qp->stream);
	qp->mulpdu = mulpdu_of(stream_fd(qp->stream));
	qp->send_msn = qp->read_msn = qp->send_msn_in = qp->read_msn_in = 1;
	qp->state = IW_RUNNING;
	qp->qp.local_addr = *stream_local(qp->stream);
	qp->qp.peer_addr = *stream_peer(qp->stream);
	return 0;
}

void iw_later(struct iw_qp *qp, void (*fn)(struct defer *d))
{
	worker_defer(qp->worker, &qp->later, fn);
}

// --- the end ---

static void end_all(struct iw_qp *qp, struct list *l, bool reads)
{
	list_for_each_safe (it, l) {
		struct rnic_wr *wr = list_entry(it, struct rnic_wr, link);
		if ((wr->opcode == RNIC_READ) != reads)
			continue;
		list_remove(it);
		int res = reads && qp->read_error ? qp->read_error : -ECANCELED;
		if (reads)
			qp->read_error = 0;
		rnic_wr_done(wr, res);
	}
}

static void finish_run(struct defer *d)
{
	struct iw_qp *qp = container_of(d, struct iw_qp, finish);

	iw_deliver(qp);
	end_all(qp, &qp->reads, true);
	end_all(qp, &qp->tx, true);
	end_all(qp, &qp->tx, false);
	qp->qp.is_lingering = false;
	rnic_qp_flush_waiting(&qp->qp);
	if (qp->rx)
		iw_rx_put(qp->rx);
	qp->rx = NULL;
	struct err why = qp->why; // for callers that read qp after freeing it
	qp->qp.ops->closed(&qp->qp, &why);
}

void iw_end(struct iw_qp *qp, const struct err *why)
{
	if (!qp->why.code)
		qp->why = *why;
	if (qp->is_over)
		return;
	qp->is_over = true;
	qp->state = IW_OVER;
	qp->qp.is_closing = true;
	iw_stop_timers(qp);
	list_remove(&qp->rx_wait.link);
	worker_defer_cancel(&qp->later);
	worker_defer_cancel(&qp->flush);
	stream_free(qp->stream);
	qp->stream = NULL;
	list_for_each (it, &qp->stags)
		iw_unexpose(qp, list_entry(it, struct iw_stag, link));
	// No request may start any more, not even those that waited for the ones ending now.
	qp->qp.is_lingering = false;
	worker_defer(qp->worker, &qp->finish, finish_run);
}

void iw_fail(struct iw_qp *qp, unsigned code, bool quotes, const char *text)
{
	struct err e;

	if (qp->is_over)
		return;
	err_set(&e, -EPROTO, "iwarp: protocol error by the peer: %s",
		text ? text : term_text(code));
	iw_tx_terminate(qp, code, quotes);
	iw_end(qp, &e);
}

// --- the caller's close ---

static void on_linger_timeout(struct timer *t)
{
	struct iw_qp *qp = container_of(t, struct iw_qp, timer);
	struct err e;

	err_set(&e, -ETIMEDOUT, "iwarp: timeout: peer does not receive the remaining data");
	iw_end(qp, &e);
}

static void linger_run(struct defer *d)
{
	struct iw_qp *qp = container_of(d, struct iw_qp, later);

	end_all(qp, &qp->reads, true);
	list_for_each_safe (it, &qp->tx) {
		struct rnic_wr *wr = list_entry(it, struct rnic_wr, link);
		bool has_begun = it == qp->tx.next && qp->partial.is_there;
		if (wr->opcode != RNIC_READ || has_begun)
			continue;
		list_remove(it);
		rnic_wr_done(wr, -ECANCELED);
	}
	if (!qp->is_over)
		iw_tx_run(qp);
	iw_deliver(qp);
}

void iw_close(struct rnic_qp *q, bool linger, const struct err *why)
{
	struct iw_qp *qp = iw_of(q);
	struct err e;

	if (!why) {
		err_set(&e, -ESHUTDOWN, "iwarp: connection closed");
		why = &e;
	}
	if (qp->is_over || (q->is_closing && linger))
		return;
	if (!linger || qp->state != IW_RUNNING || !(iw_has_tx(qp) || !list_empty(&q->waiting))) {
		iw_end(qp, why);
		return;
	}
	qp->why = *why;
	rnic_qp_linger(q);
	timer_init(&qp->timer, on_linger_timeout);
	timer_arm(qp->worker, &qp->timer, LINGER_USEC);
	worker_defer_cancel(&qp->later);
	iw_later(qp, linger_run);
}
