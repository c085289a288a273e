// SPDX-License-Identifier: BSD-2-Clause
// The sending side: writes batches to the socket and completes what was sent. Batches are built by
// tx_batch.c. RFC 5044 4.1, RFC 5040 5.
//
// A partially sent frame is kept in the connection (struct iw_partial), except its payload.
#include <errno.h>
#include <string.h>

#include "transport/rdma/iwarp/crc.h"
#include "transport/rdma/iwarp/tx_batch.h"

// --- what has left ---

static void commit_request(struct iw_qp *qp, const struct iw_fpdu *f)
{
	struct rnic_wr *wr = list_entry(list_first(&qp->tx), struct rnic_wr, link);

	wr->scratch[IW_WR_SENT] += f->len;
	if (!f->is_last)
		return;
	list_remove(&wr->link);
	if (wr->opcode != RNIC_READ) {
		list_push_back(&qp->done, &wr->link);
		return;
	}
	list_push_back(&qp->reads, &wr->link); // from here on it counts received bytes
}

static void commit_response(struct iw_qp *qp, const struct iw_fpdu *f)
{
	qp->irq[qp->irq_head].sent += f->len;
	if (!f->is_last)
		return;
	qp->irq_head = (qp->irq_head + 1) % qp->irq_room;
	qp->irq_count--;
}

static void commit(struct iw_qp *qp, const struct iw_fpdu *f)
{
	if (f->is_partial)
		qp->partial.is_there = false;
	qp->is_in_message = !f->is_last;
	qp->is_response_turn = f->is_response;
	if (f->is_response)
		commit_response(qp, f);
	else
		commit_request(qp, f);
}

static void keep_partial(struct iw_qp *qp, const struct iw_fpdu *f, uint32_t sent)
{
	struct iw_partial *p = &qp->partial;

	if (f->is_partial) {
		p->sent += sent;
		return;
	}
	*p = (struct iw_partial){
		.is_there = true,
		.is_last = f->is_last,
		.len = f->len,
		.external = f->external,
		.head_len = f->head_len,
		.tail_len = f->tail_len,
		.sent = sent,
	};
	memcpy(p->head, f->head, f->head_len);
	memcpy(p->tail, f->tail, f->tail_len);
	qp->is_in_message = true;
	qp->is_response_turn = f->is_response;
}

static void consume(struct iw_qp *qp, const struct iw_batch *b, uint64_t n)
{
	qp->qp.bytes_out += n;
	qp->qp.last_tx_ns = worker_now(qp->worker);
	for (unsigned i = 0; n && i < b->fpdu_count; i++) {
		const struct iw_fpdu *f = &b->fpdus[i];
		if (n < f->left) {
			keep_partial(qp, f, (uint32_t)n);
			return;
		}
		n -= f->left;
		commit(qp, f);
	}
}

bool iw_has_tx(const struct iw_qp *qp)
{
	return !list_empty(&qp->tx) || qp->partial.is_there;
}

static void revoked(struct iw_qp *qp)
{
	struct err e;

	err_set(&e, -ECONNABORTED, "iwarp: memory was revoked while the peer was reading it");
	iw_end(qp, &e);
}

void iw_tx_run(struct iw_qp *qp)
{
	struct iw_batch b;
	struct err e;

	while (qp->state == IW_RUNNING && qp->qp.is_established && !qp->is_tx_blocked &&
	       !qp->is_tx_held && (iw_has_tx(qp) || qp->irq_count)) {
		if (!iw_batch_build(&b, qp)) {
			revoked(qp);
			return;
		}
		if (!b.fpdu_count)
			return;
		ssize_t n = stream_writev(qp->stream, b.iov, (int)b.count);
		if (n == -EAGAIN) {
			qp->is_tx_blocked = true;
			return;
		}
		if (n < 0) {
			err_errno(&e, (int)n, "iwarp: send");
			iw_end(qp, &e);
			return;
		}
		// Short: the socket is full, and free space raises a new event.
		qp->is_tx_blocked = (uint64_t)n < b.bytes;
		consume(qp, &b, (uint64_t)n);
	}
}

void iw_deliver(struct iw_qp *qp)
{
	iw_report(qp);
	if (qp->qp.is_lingering && !qp->is_over && !iw_has_tx(qp) && list_empty(&qp->qp.waiting))
		iw_end(qp, &qp->why);
}

void iw_tx_ready(struct stream *s)
{
	struct iw_qp *qp = stream_arg(s);

	qp->is_tx_blocked = false;
	if (qp->state != IW_RUNNING)
		return;
	iw_tx_run(qp);
	iw_deliver(qp);
}

static void flush_run(struct defer *d)
{
	struct iw_qp *qp = container_of(d, struct iw_qp, flush);

	iw_tx_run(qp);
	iw_deliver(qp);
}

void iw_tx_soon(struct iw_qp *qp)
{
	if (!qp->is_in_rx && !qp->is_over)
		worker_defer(qp->worker, &qp->flush, flush_run);
}

void iw_post(struct rnic_qp *q, struct rnic_wr *wr)
{
	struct iw_qp *qp = iw_of(q);

	wr->scratch[IW_WR_SENT] = 0;
	if (wr->opcode == RNIC_READ) {
		wr->scratch[IW_WR_MSN] = qp->read_msn++;
		wr->scratch[IW_WR_STAG] =
			(uint32_t)IW_SINK_STAGS << 24 | (qp->read_stag++ & 0xffffff);
		qp->large_sinks += wr->bytes > IW_SMALL;
	} else if (wr->opcode != RNIC_WRITE) {
		wr->scratch[IW_WR_MSN] = qp->send_msn++;
	}
	list_push_back(&qp->tx, &wr->link);
	iw_tx_soon(qp);
}

// done is never called from inside.
void iw_flush(struct rnic_qp *q)
{
	struct iw_qp *qp = iw_of(q);

	iw_tx_run(qp);
	if (!list_empty(&qp->done) && !qp->is_over)
		worker_defer(qp->worker, &qp->flush, flush_run);
}

void iw_tx_nothing(struct iw_qp *qp)
{
	uint8_t frame[DDP_HEADER_MAX + MPA_TAIL_MAX];
	uint32_t len = ddp_put_tagged(frame, RDMAP_WRITE, true, 0, 0, 0);
	uint32_t crc = qp->has_crc ? iw_crc(IW_CRC_START, frame, len) : 0;
	struct iovec iov = { frame, len + iw_put_tail(frame + len, len, crc, qp->has_crc) };

	if (qp->partial.is_there || qp->is_tx_blocked || qp->is_in_message)
		return; // more is being sent anyway
	ssize_t n = stream_writev(qp->stream, &iov, 1);
	// A partial send would corrupt the stream: nothing is unsent, so there is room.
	if (n > 0 && (size_t)n < iov.iov_len) {
		struct err e;
		err_set(&e, -ECONNRESET, "iwarp: incomplete frame written to the socket");
		iw_end(qp, &e);
	}
}
