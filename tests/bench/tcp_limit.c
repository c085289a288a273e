// SPDX-License-Identifier: BSD-2-Clause
// What a target could reach if SCSI and iSCSI cost nothing: answers the frames
// of iscsi_load's raw:// mode with the right number of bytes and no thought.
// One thread; sleeps in epoll, or spins with -p. Memory is one static buffer.
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PEERS = 1024, RX = 256 * 1024, BATCH = 256, BIGGEST = 8 << 20 };

struct peer {
	int fd;
	size_t rx_len, rx_skip;
	uint8_t rx[RX];
};

static uint8_t content[BIGGEST];

struct batch {
	unsigned n, n_iov;
	uint8_t heads[BATCH][BHS_LEN];
	struct iovec iov[2 * BATCH];
};

static void fail(const char *what)
{
	fprintf(stderr, "tcp_limit: %s: %s\n", what, strerror(errno));
	exit(1);
}

// The client reads whenever its own socket is full, so waiting here is safe.
static bool batch_send(struct peer *peer, struct batch *b)
{
	struct iovec *iov = b->iov, *end = b->iov + b->n_iov;

	while (iov < end) {
		struct msghdr msg = { .msg_iov = iov, .msg_iovlen = (size_t)(end - iov) };
		ssize_t n = sendmsg(peer->fd, &msg, MSG_NOSIGNAL);

		if (n < 0)
			return false;
		for (; iov < end && (size_t)n >= iov->iov_len; iov++)
			n -= (ssize_t)iov->iov_len;
		if (iov < end) {
			iov->iov_base = (uint8_t *)iov->iov_base + n;
			iov->iov_len -= (size_t)n;
		}
	}
	b->n = b->n_iov = 0;
	return true;
}

static void answer(struct batch *b, const uint8_t *h)
{
	uint8_t *head = b->heads[b->n++];
	uint32_t len = h[AT_FLAGS] & FLAG_READ ? get32(h + AT_EDTL) : 0;

	memset(head, 0, BHS_LEN);
	head[0] = len ? OP_DATA_IN : OP_RESPONSE;
	head[AT_FLAGS] = FLAG_FINAL | (len ? FLAG_STATUS : 0);
	put24(head + AT_DATA_LEN, len);
	memcpy(head + AT_ITT, h + AT_ITT, 4);
	put32(head + AT_MAXCMDSN, get32(h + AT_CMDSN) + 0x10000);
	b->iov[b->n_iov++] = (struct iovec){ head, BHS_LEN };
	if (len)
		b->iov[b->n_iov++] = (struct iovec){ content, len };
}

static bool frames(struct peer *peer, struct batch *b)
{
	size_t pos = peer->rx_skip < peer->rx_len ? peer->rx_skip : peer->rx_len;

	peer->rx_skip -= pos;
	while (peer->rx_len - pos >= BHS_LEN) {
		const uint8_t *h = peer->rx + pos;
		size_t body = (get24(h + AT_DATA_LEN) + 3) & ~3u, have;

		if ((h[0] & OP_MASK) != OP_COMMAND || get32(h + AT_EDTL) >= 1 << 24 ||
		    get32(h + AT_EDTL) > BIGGEST)
			return false;
		answer(b, h);
		pos += BHS_LEN;
		have = peer->rx_len - pos < body ? peer->rx_len - pos : body;
		pos += have;
		peer->rx_skip = body - have;
		if (b->n == BATCH && !batch_send(peer, b))
			return false;
	}
	peer->rx_len -= pos;
	memmove(peer->rx, peer->rx + pos, peer->rx_len);
	return batch_send(peer, b);
}

static bool serve(struct peer *peer)
{
	static struct batch batch;
	ssize_t n = recv(peer->fd, peer->rx + peer->rx_len, RX - peer->rx_len, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0)
		return false;
	peer->rx_len += (size_t)n;
	batch.n = batch.n_iov = 0;
	return frames(peer, &batch);
}

static void admit(int ep, int listener)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct peer *peer = calloc(1, sizeof(*peer));
	int one = 1;

	if (!peer)
		fail("memory");
	peer->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (peer->fd < 0)
		fail("accept");
	setsockopt(peer->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	event.data.ptr = peer;
	if (epoll_ctl(ep, EPOLL_CTL_ADD, peer->fd, &event))
		fail("epoll");
}

static int listen_on(const char *port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_port = htons((uint16_t)atoi(port)),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, PEERS))
		fail("listen");
	return fd;
}

int main(int argc, char **argv)
{
	bool is_spinning = argc == 3 && !strcmp(argv[1], "-p");
	int ep = epoll_create1(EPOLL_CLOEXEC), listener;
	struct epoll_event events[64], event = { .events = EPOLLIN };

	if (argc < 2 || argc != 2 + is_spinning) {
		fprintf(stderr, "usage: tcp_limit [-p] PORT\n");
		return 2;
	}
	listener = listen_on(argv[argc - 1]);
	if (epoll_ctl(ep, EPOLL_CTL_ADD, listener, &event))
		fail("epoll");
	for (;;) {
		int n = epoll_wait(ep, events, 64, is_spinning ? 0 : -1);

		for (int i = 0; i < n; i++) {
			struct peer *peer = events[i].data.ptr;

			if (!peer) {
				admit(ep, listener);
			} else if (!serve(peer)) {
				close(peer->fd);
				free(peer);
			}
		}
	}
}
