// SPDX-License-Identifier: BSD-2-Clause
// The accepting side of MPA's startup, from a socket that announces iWARP to the caller's answer.
// RFC 5044 7.1, RFC 6581. On the worker's thread.
#include <errno.h>
#include <unistd.h>

#include "transport/rdma/iwarp/iwarp.h"
#include "transport/rdma/iwarp/startup.h"

#define REQUEST_USEC 5000000u

static void leave_half_open(struct iw_qp *qp)
{
	if (!list_linked(&qp->half_open))
		return;
	list_remove(&qp->half_open);
	qp->dev->half_open_count--;
}

void iw_drop(struct iw_qp *qp)
{
	leave_half_open(qp);
	if (qp->state == IW_PENDING)
		qp->lops->gone(qp->larg, &qp->request);
	iw_qp_delete(qp);
}

static void turn_away(struct iw_qp *qp, const struct err *why)
{
	const struct rnic_listener_ops *ops = qp->lops;
	struct tcp_addr peer = *stream_peer(qp->stream);
	struct err e = *why;
	void *arg = qp->larg;

	iw_drop(qp);
	if (ops->refused)
		ops->refused(arg, &peer, &e);
}

static void on_request_timeout(struct timer *t)
{
	struct err e;

	err_set(&e, -ETIMEDOUT, "MPA: timeout waiting for a complete request");
	turn_away(container_of(t, struct iw_qp, timer), &e);
}

// Closes the oldest silent connection to make room.
static void crowded_run(struct defer *defer)
{
	struct iw_device *d = container_of(defer, struct iw_device, crowded);
	struct err e;

	err_set(&e, -EBUSY,
		"MPA: closed without a request: too many connections have not sent theirs");
	iw_device_hold(d);
	while (d->half_open_count > IW_HALF_OPEN_MAX)
		turn_away(list_entry(list_first(&d->half_open), struct iw_qp, half_open), &e);
	iw_device_put(d);
}

void iwarp_refuse_half_open(const struct err *why)
{
	struct iw_device *d = iw_device_here();

	if (!d)
		return;
	iw_device_hold(d);
	while (d->half_open_count)
		turn_away(list_entry(list_first(&d->half_open), struct iw_qp, half_open), why);
	iw_device_put(d);
}

// Sends an MPA reply that refuses the request.
static void send_refusal(struct iw_qp *qp, const void *private_data, uint32_t len)
{
	struct mpa_frame f;

	mpa_answer(&f, &qp->peer_frame, 0, 0, false);
	f.flags |= MPA_R;
	f.revision = f.revision > 2 ? 2 : f.revision;
	f.private_data = private_data;
	f.private_len = len;
	iw_send_frame(qp, &f);
}

static void refuse(struct iw_qp *qp, const void *private_data, uint32_t len)
{
	send_refusal(qp, private_data, len);
	iw_qp_delete(qp);
}

// Checks the request for features that we do not support.
static int check_request(const struct mpa_frame *f, struct err *e)
{
	if (f->revision < 1 || f->revision > 2)
		return err_set(e, -EPROTO, "MPA: unsupported revision %u (only 1 and 2)",
			       f->revision);
	if (f->flags & MPA_M)
		return err_set(e, -EPROTO, "MPA: peer requires markers, which are not supported");
	if (f->flags & MPA_R)
		return err_set(e, -EPROTO, "MPA: request with the reject bit set");
	return 0;
}

static void request_in(struct iw_qp *qp)
{
	const struct mpa_frame *f = &qp->peer_frame;
	struct err e;

	leave_half_open(qp);
	timer_cancel(qp->worker, &qp->timer);
	if (check_request(f, &e) < 0) {
		send_refusal(qp, NULL, 0);
		turn_away(qp, &e);
		return;
	}
	qp->state = IW_PENDING;
	bool has_depths = f->flags & MPA_S;
	qp->request = (struct rnic_request){
		.provider = qp->dev->rnic.provider,
		.rnic = &qp->dev->rnic,
		.local_addr = *stream_local(qp->stream),
		.peer_addr = *stream_peer(qp->stream),
		.carrier = "iWARP",
		.private_data = f->private_data,
		.private_len = f->private_len,
		.reads_out = RNIC_READS_MAX,
		.reads_in = RNIC_READS_MAX,
	};
	if (has_depths && f->ird < RNIC_READS_MAX)
		qp->request.reads_out = f->ird;
	if (has_depths && f->ord < RNIC_READS_MAX)
		qp->request.reads_in = f->ord;
	qp->lops->request(qp->larg, &qp->request); // qp may be gone
}

// --- its stream ---

static void request_rx(struct iw_qp *qp)
{
	struct err e = { 0 };
	int r = iw_read_frame(qp, false, &e);

	if (r < 0)
		turn_away(qp, &e);
	else if (r > 0)
		request_in(qp);
}

static void on_rx(struct stream *s)
{
	struct iw_qp *qp = stream_arg(s);

	worker_note_traffic(qp->worker);
	if (qp->state == IW_RUNNING)
		iw_rx_run(qp);
	else if (qp->state == IW_REQUEST)
		request_rx(qp);
	else if (qp->state == IW_PENDING && stream_is_hup(s))
		iw_drop(qp);
}

static void on_closed(struct stream *s, int reason)
{
	struct iw_qp *qp = stream_arg(s);
	struct err e;

	if (qp->state == IW_PENDING) {
		iw_drop(qp);
	} else if (qp->state == IW_REQUEST) {
		err_errno(&e, reason ? reason : -ECONNRESET, "iwarp: connection lost");
		turn_away(qp, &e);
	} else {
		iw_lost(qp, "connection lost", reason);
	}
}

static const struct stream_ops stream_ops = {
	.rx = on_rx,
	.tx_ready = iw_tx_ready,
	.closed = on_closed,
};

// --- new, and the answer ---

// A new connection that has not sent its request. Owns fd.
static int passive_new(const struct rnic_provider *p, struct worker *w, int fd,
		       const struct rnic_listener_ops *ops, void *arg, struct err *e)
{
	struct iw_qp *qp = iw_qp_new(p, w, e);

	if (!qp)
		return -ENOMEM;
	struct iw_device *d = qp->dev;
	int r = stream_new(&qp->stream, w, fd, &stream_ops, qp, e);
	if (r < 0) {
		iw_qp_delete(qp);
		return r;
	}
	qp->state = IW_REQUEST;
	qp->lops = ops;
	qp->larg = arg;
	timer_init(&qp->timer, on_request_timeout);
	timer_arm(w, &qp->timer, REQUEST_USEC);
	list_push_back(&d->half_open, &qp->half_open);
	if (++d->half_open_count > IW_HALF_OPEN_MAX)
		worker_defer(w, &d->crowded, crowded_run);
	return 0;
}

int iw_passive(const struct rnic_provider *p, struct worker *w, int fd,
	       const struct rnic_listener_ops *ops, void *arg, struct err *e)
{
	int r = passive_new(p, w, fd, ops, arg, e);

	if (r < 0)
		close(fd);
	return r;
}

static void accepted_run(struct defer *d)
{
	struct iw_qp *qp = container_of(d, struct iw_qp, later);

	qp->qp.is_established = true;
	qp->qp.ops->established(&qp->qp, NULL, 0);
	iw_rx_run(qp);
}

int iw_accept(struct rnic_request *q, struct rnic_qp **ret, const struct rnic_qp_options *o,
	      const struct rnic_qp_ops *ops, void *owner, struct err *e)
{
	struct iw_qp *qp = container_of(q, struct iw_qp, request);
	struct mpa_frame f;
	int r = iw_check_private(o->private_len, RNIC_PRIVATE_MAX, e);

	iw_init_head(qp, o, ops, owner);
	mpa_answer(&f, &qp->peer_frame, qp->qp.reads_in, qp->qp.reads_out, o->wants_crc);
	f.private_data = o->private_data;
	f.private_len = o->private_len;
	qp->qp.reads_in = f.ird;
	qp->qp.reads_out = f.ord;
	qp->has_crc = f.flags & MPA_C;
	qp->is_tx_held = true;
	iw_set_tos(qp);
	if (!r && iw_running(qp, o) < 0)
		r = err_set(e, -ENOMEM, "iwarp: out of memory for a connection");
	if (r < 0) {
		refuse(qp, NULL, 0);
		return r;
	}
	if (!iw_send_frame(qp, &f)) {
		r = err_set(e, -ECONNRESET, "iwarp: peer closed the connection before the reply");
		iw_qp_delete(qp);
		return r;
	}
	iw_later(qp, accepted_run);
	*ret = &qp->qp;
	return 0;
}

void iw_reject(struct rnic_request *q, const void *private_data, uint32_t len)
{
	struct iw_qp *qp = container_of(q, struct iw_qp, request);

	refuse(qp, private_data, len < RNIC_PRIVATE_REJ_MAX ? len : RNIC_PRIVATE_REJ_MAX);
}
