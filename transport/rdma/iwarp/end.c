// SPDX-License-Identifier: BSD-2-Clause
// The end of a connection: a Terminate if the peer violated the protocol, what becomes of its
// requests and exposures, closed. RFC 5040 4.8. On the worker's thread.
#include <errno.h>

#include "transport/rdma/iwarp/crc.h"
#include "transport/rdma/iwarp/tx_batch.h"

void iw_report(struct iw_qp *qp)
{
	for (struct list *n; (n = list_pop_front(&qp->done));)
		rnic_wr_done(list_entry(n, struct rnic_wr, link), 0);
}

void iw_cancel(struct iw_qp *qp, struct list *l, bool is_read)
{
	list_for_each_safe (it, l) {
		struct rnic_wr *wr = list_entry(it, struct rnic_wr, link);
		if ((wr->opcode == RNIC_READ) != is_read)
			continue;
		list_remove(it);
		int res = is_read && qp->read_error ? qp->read_error : -ECANCELED;
		if (is_read)
			qp->read_error = 0;
		rnic_wr_done(wr, res);
	}
}

static void finish_run(struct defer *d)
{
	struct iw_qp *qp = container_of(d, struct iw_qp, finish);

	iw_report(qp);
	iw_cancel(qp, &qp->reads, true);
	iw_cancel(qp, &qp->tx, true);
	iw_cancel(qp, &qp->tx, false);
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
	if (qp->stream && !qp->why.code)
		stream_set_orderly(qp->stream, true);
	stream_free(qp->stream);
	qp->stream = NULL;
	list_for_each (it, &qp->stags)
		iw_unexpose(qp, list_entry(it, struct iw_stag, link));
	// No request may start any more, not even those that waited for the ones ending now.
	qp->qp.is_lingering = false;
	worker_defer(qp->worker, &qp->finish, finish_run);
}

void iw_lost(struct iw_qp *qp, const char *what, int reason)
{
	struct err e;

	err_errno(&e, reason ? reason : -ECONNRESET, "iwarp: %s", what);
	iw_end(qp, &e);
}

// One attempt: a peer that does not read will not see it.
static void terminate(struct iw_qp *qp, unsigned code, bool quotes)
{
	uint8_t frame[TERM_FRAME_MAX + MPA_TAIL_MAX];
	struct iw_batch b;

	if (!qp->stream)
		return;
	if (!iw_batch_begin_rest(&b, qp))
		return;
	uint32_t len = ddp_put_terminate(frame, code, quotes ? qp->rx_header : NULL, &qp->seg);
	uint32_t crc = qp->has_crc ? iw_crc(IW_CRC_START, frame, len) : 0;
	iw_batch_add(&b, frame, len + iw_put_tail(frame + len, len, crc, qp->has_crc));
	stream_writev(qp->stream, b.iov, (int)b.count);
}

void iw_fail(struct iw_qp *qp, unsigned code, bool quotes, const char *text)
{
	struct err e;

	if (qp->is_over)
		return;
	err_set(&e, -EPROTO, "iwarp: protocol error by the peer: %s",
		text ? text : term_text(code));
	terminate(qp, code, quotes);
	if (qp->stream) // a reset could overtake the Terminate
		stream_set_orderly(qp->stream, true);
	iw_end(qp, &e);
}
