// SPDX-License-Identifier: BSD-2-Clause
// The caller's close, with or without sending what was posted. On the worker's thread.
#include <errno.h>

#include "transport/rdma/iwarp/iw_priv.h"

#define LINGER_USEC 10000000u // for sending what was posted

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

	iw_cancel(qp, &qp->reads, true);
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
	if (linger && qp->stream) // what the kernel has is sent, too
		stream_set_orderly(qp->stream, true);
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
