// SPDX-License-Identifier: BSD-2-Clause
// The state of a connection: new, running, deleted. On the worker's thread.
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>

#include "transport/rdma/iwarp/iw_priv.h"

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
