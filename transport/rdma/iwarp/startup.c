// SPDX-License-Identifier: BSD-2-Clause
// Turns a TCP connection into an RDMA connection: the startup frames of both sides. Nothing past a
// frame is read, so that FPDUs find an empty receive machine. RFC 5044 7.1, RFC 6581.
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/rdma/iwarp/iw_priv.h"

#define REQUEST_USEC 5000000u
#define CONNECT_USEC 10000000u
#define NUDGE_USEC   100000u // twice as long from one to the next
#define NUDGES_MAX   6u

static bool send_frame(struct iw_qp *qp, const struct mpa_frame *f)
{
	uint8_t out[MPA_STARTUP_LEN + MPA_PRIVATE_MAX];
	size_t len = mpa_build(f, out);
	struct iovec iov = { out, len };

	// The socket is new: if a frame does not fit now, it never will.
	return stream_writev(qp->stream, &iov, 1) == (ssize_t)len;
}

// 1: the frame is complete; 0: not yet; negative: error in e.
static int read_frame(struct iw_qp *qp, bool is_reply, struct err *e)
{
	for (;;) {
		uint32_t want = MPA_STARTUP_LEN;
		if (qp->startup_have >= MPA_STARTUP_LEN) {
			int len = mpa_frame_len(qp->startup, is_reply, e);
			if (len < 0)
				return len;
			want = (uint32_t)len;
			if (qp->startup_have == want)
				return mpa_parse(qp->startup, &qp->peer_frame, e) < 0 ? -EPROTO : 1;
		}
		struct iovec iov = { qp->startup + qp->startup_have, want - qp->startup_have };
		ssize_t n = stream_readv(qp->stream, &iov, 1);
		if (n == -EAGAIN)
			return 0;
		if (n <= 0)
			return err_errno(e, n ? (int)n : -ECONNRESET,
					 "iwarp: peer closed the connection before its %s",
					 is_reply ? "reply" : "request");
		qp->startup_have += (uint32_t)n;
	}
}

// --- passive ---

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

void iw_turn_away(struct iw_qp *qp, const struct err *why)
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
	iw_turn_away(container_of(t, struct iw_qp, timer), &e);
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
		iw_turn_away(list_entry(list_first(&d->half_open), struct iw_qp, half_open), &e);
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
	send_frame(qp, &f);
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
		iw_turn_away(qp, &e);
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

// A new connection that has not sent its request. Owns fd.
static int passive_new(const struct rnic_provider *p, struct worker *w, int fd,
		       const struct rnic_listener_ops *ops, void *arg, struct err *e)
{
	struct iw_qp *qp = iw_qp_new(p, w, e);

	if (!qp)
		return -ENOMEM;
	struct iw_device *d = qp->dev;
	int r = stream_new(&qp->stream, w, fd, &iw_stream_ops, qp, e);
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

static int check_private(uint32_t len, uint32_t most, struct err *e)
{
	if (len <= most)
		return 0;
	return err_set(e, -EINVAL, "iwarp: %u bytes of private data exceed the limit of %u", len,
		       most);
}

static void lower(uint32_t *n, uint32_t most)
{
	if (*n > most)
		*n = most;
}

static void init_head(struct iw_qp *qp, const struct rnic_qp_options *o,
		      const struct rnic_qp_ops *ops, void *owner)
{
	rnic_qp_init(&qp->qp, qp->dev->rnic.provider, &qp->dev->rnic, o, ops, owner);
	lower(&qp->qp.reads_in, RNIC_READS_MAX);
	lower(&qp->qp.reads_out, RNIC_READS_MAX);
	qp->wants_crc = o->wants_crc;
	qp->tos = o->tos;
}

static void set_tos(struct iw_qp *qp)
{
	int tos = qp->tos, fd = stream_fd(qp->stream);

	if (!tos)
		return;
	setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof tos);
	setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof tos);
}

int iw_accept(struct rnic_request *q, struct rnic_qp **ret, const struct rnic_qp_options *o,
	      const struct rnic_qp_ops *ops, void *owner, struct err *e)
{
	struct iw_qp *qp = container_of(q, struct iw_qp, request);
	struct mpa_frame f;
	int r = check_private(o->private_len, RNIC_PRIVATE_MAX, e);

	init_head(qp, o, ops, owner);
	mpa_answer(&f, &qp->peer_frame, qp->qp.reads_in, qp->qp.reads_out, o->wants_crc);
	f.private_data = o->private_data;
	f.private_len = o->private_len;
	qp->qp.reads_in = f.ird;
	qp->qp.reads_out = f.ord;
	qp->has_crc = f.flags & MPA_C;
	qp->is_tx_held = true;
	set_tos(qp);
	if (!r && iw_running(qp, o) < 0)
		r = err_set(e, -ENOMEM, "iwarp: out of memory for a connection");
	if (r < 0) {
		refuse(qp, NULL, 0);
		return r;
	}
	if (!send_frame(qp, &f)) {
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

// --- active ---

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
	return stream_connect(&qp->stream, qp->worker, &qp->connect_to, from, 0, &iw_stream_ops, qp,
			      e);
}

int iw_connect(const struct rnic_provider *p, struct rnic_qp **ret, struct worker *w,
	       const struct tcp_addr *peer, const struct tcp_addr *local,
	       const struct rnic_qp_options *o, const struct rnic_qp_ops *ops, void *owner,
	       struct err *e)
{
	int r = check_private(o->private_len, RNIC_PRIVATE_REQ_MAX, e);

	if (r < 0)
		return r;
	struct iw_qp *qp = iw_qp_new(p, w, e);
	if (!qp)
		return -ENOMEM;
	init_head(qp, o, ops, owner);
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

void iw_connected(struct iw_qp *qp)
{
	struct mpa_frame f = {
		.flags = (uint8_t)((qp->wants_crc ? MPA_C : 0) | (qp->revision > 1 ? MPA_S : 0)),
		.revision = qp->revision,
		.ird = (uint16_t)qp->qp.reads_in,
		.ord = (uint16_t)qp->qp.reads_out,
		.private_data = qp->private_data,
		.private_len = qp->private_len,
	};

	set_tos(qp);
	qp->state = IW_REPLY;
	if (!send_frame(qp, &f))
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
		lower(&qp->qp.reads_out, f->ird);
	return 0;
}

// Linux's siw sends its reply before it watches the socket for FPDUs: one that arrives in between
// is not read until more data arrives. So until the passive side's first message we send more: RDMA
// Writes of no bytes, which need no memory (RFC 5040 5.1).
static void on_nudge(struct timer *t)
{
	struct iw_qp *qp = container_of(t, struct iw_qp, nudge);

	if (qp->state != IW_RUNNING || qp->qp.bytes_in || qp->nudges == NUDGES_MAX)
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

void iw_startup_rx(struct iw_qp *qp)
{
	struct err e = { 0 };

	if (qp->state == IW_PENDING) {
		if (stream_is_hup(qp->stream))
			iw_drop(qp);
		return;
	}
	if (qp->state != IW_REQUEST && qp->state != IW_REPLY)
		return;
	bool is_reply = qp->state == IW_REPLY;
	int r = read_frame(qp, is_reply, &e);
	if (r < 0 && is_reply)
		iw_end(qp, &e);
	else if (r < 0)
		iw_turn_away(qp, &e);
	else if (r > 0 && is_reply)
		reply_in(qp);
	else if (r > 0)
		request_in(qp);
}
