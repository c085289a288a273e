// SPDX-License-Identifier: BSD-2-Clause
// The initiator's TCP mover in a test: its scripted target is behind a socket pair.
#pragma once

#include "transport/iscsi/initiator_rig.h"

#include <fcntl.h>
#include <sys/socket.h>

#include "transport/iscsi/dmi_tcp.h"

enum { IN_MAX = 4 << 20 };

struct tcp_peer {
	struct rig *r;
	int fd;
	struct watch watch;
	bool is_deaf; // reads nothing
	uint8_t *in;
	size_t in_len;
};

static inline struct tcp_peer *tcp_peer(struct rig *r)
{
	return r->below;
}

static inline void tcp_peer_rx(struct watch *wa, uint32_t events)
{
	struct tcp_peer *p = container_of(wa, struct tcp_peer, watch);
	ssize_t n;
	if (p->is_deaf)
		return;
	while ((n = read(p->fd, p->in + p->in_len, IN_MAX - p->in_len)) > 0) {
		p->in_len += (size_t)n;
		for (;;) {
			uint32_t len = p->in_len >= 48 ? get_be24(p->in + 5) : 0;
			size_t whole = 48 + ((len + 3) & ~3u);
			if (p->in_len < 48 || p->in_len < whole)
				break;
			rig_heard(p->r, p->in, p->in + 48, len);
			if (p->r->is_closed)
				return;
			memmove(p->in, p->in + whole, p->in_len - whole);
			p->in_len -= whole;
		}
	}
}

static inline void tcp_init(struct rig *r)
{
	struct tcp_peer *p = r->below = calloc(1, sizeof *p);
	p->r = r;
	p->fd = -1;
	p->in = malloc(IN_MAX);
	r->params.max_recv_data = 65536;
	r->params.max_send_data = 512;
	r->params.max_burst = 4096;
	r->params.first_burst = 1024;
	r->params.max_outstanding_r2t = 2;
}

static inline void tcp_connect(struct rig *r)
{
	struct tcp_peer *p = tcp_peer(r);
	int fds[2];
	struct err e;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	p->fd = fds[1];
	fcntl(p->fd, F_SETFL, O_NONBLOCK);
	assert_int_equal(dmi_tcp_new(&r->dm, r->w, fds[0], &up, r, &e), 0);
	p->watch.fn = tcp_peer_rx;
	p->watch.fd = -1;
	assert_int_equal(watch_add(r->w, &p->watch, p->fd, 0), 0);
	rig_begin(r);
}

static inline void tcp_say(struct rig *r, const void *pdu, uint32_t len)
{
	assert_int_equal(write(tcp_peer(r)->fd, pdu, len), len);
}

static inline void tcp_hang_up(struct rig *r)
{
	shutdown(tcp_peer(r)->fd, SHUT_RDWR);
}

static inline void tcp_closed(struct rig *r)
{
	watch_remove(r->w, &tcp_peer(r)->watch);
	worker_stop(r->w);
}

static inline void tcp_done(struct rig *r)
{
	struct tcp_peer *p = tcp_peer(r);
	close(p->fd);
	free(p->in);
	free(p);
}

static const struct carrier tcp_carrier = {
	.name = "TCP",
	.init = tcp_init,
	.connect = tcp_connect,
	.say = tcp_say,
	.hang_up = tcp_hang_up,
	.closed = tcp_closed,
	.done = tcp_done,
};

// --- what a target says over TCP only ---

static inline void data_in(struct rig *r, const uint8_t *cmd, uint8_t flags, uint32_t sn,
			   uint32_t offset, const void *data, uint32_t len)
{
	uint8_t bhs[48];
	answer_head(r, bhs, ISCSI_OP_DATA_IN, flags, cmd);
	put_be32(bhs + 20, ISCSI_TAG_NONE);
	put_be32(bhs + 36, sn);
	put_be32(bhs + 40, offset);
	say(r, bhs, data, len);
}

static inline void r2t(struct rig *r, const uint8_t *cmd, uint32_t ttt, uint32_t sn,
		       uint32_t offset, uint32_t len)
{
	uint8_t bhs[48];
	answer_head(r, bhs, ISCSI_OP_R2T, ISCSI_F, cmd);
	put_be32(bhs + 20, ttt);
	put_be32(bhs + 36, sn);
	put_be32(bhs + 40, offset);
	put_be32(bhs + 44, len);
	say(r, bhs, NULL, 0);
}
