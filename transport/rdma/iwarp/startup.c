// SPDX-License-Identifier: BSD-2-Clause
// Turns a TCP connection into an RDMA connection: the startup frames, for both sides. Nothing past
// a frame is read, so that FPDUs find an empty receive machine. RFC 5044 7.1, RFC 6581.
#include <errno.h>
#include <netinet/in.h>

#include "transport/rdma/iwarp/startup.h"

bool iw_send_frame(struct iw_qp *qp, const struct mpa_frame *f)
{
	uint8_t out[MPA_STARTUP_LEN + MPA_PRIVATE_MAX];
	size_t len = mpa_build(f, out);
	struct iovec iov = { out, len };

	// The socket is new: if a frame does not fit now, it never will.
	return stream_writev(qp->stream, &iov, 1) == (ssize_t)len;
}

int iw_read_frame(struct iw_qp *qp, bool is_reply, struct err *e)
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

int iw_check_private(uint32_t len, uint32_t most, struct err *e)
{
	if (len <= most)
		return 0;
	return err_set(e, -EINVAL, "iwarp: %u bytes of private data exceed the limit of %u", len,
		       most);
}

void iw_init_head(struct iw_qp *qp, const struct rnic_qp_options *o, const struct rnic_qp_ops *ops,
		  void *owner)
{
	rnic_qp_init(&qp->qp, qp->dev->rnic.provider, &qp->dev->rnic, o, ops, owner);
	iw_lower(&qp->qp.reads_in, RNIC_READS_MAX);
	iw_lower(&qp->qp.reads_out, RNIC_READS_MAX);
	qp->wants_crc = o->wants_crc;
	qp->tos = o->tos;
}

void iw_set_tos(struct iw_qp *qp)
{
	int tos = qp->tos, fd = stream_fd(qp->stream);

	if (!tos)
		return;
	setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof tos);
	setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof tos);
}
