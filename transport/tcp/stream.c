// SPDX-License-Identifier: BSD-2-Clause
// Streams on a worker, on its thread: events, reading and writing, the end. Connecting is in
// connect.c.
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "transport/tcp/stream_priv.h"

static void on_event(struct watch *wa, uint32_t events);

static void no_event(struct stream *s)
{
}

static void no_closed(struct stream *s, int reason)
{
}

struct stream *stream_alloc(struct worker *w, const struct stream_ops *ops, void *arg)
{
	struct stream *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->worker = w;
	s->arg = arg;
	s->ops = (struct stream_ops){
		.rx = ops->rx ? ops->rx : no_event,
		.tx_ready = ops->tx_ready ? ops->tx_ready : no_event,
		.connected = ops->connected ? ops->connected : no_event,
		.closed = ops->closed ? ops->closed : no_closed,
	};
	s->watch.fn = on_event;
	s->watch.fd = -1;
	return s;
}

// Small requests and responses must not wait for an acknowledgement. Sockets other than TCP (a
// socketpair) are fine.
void stream_set_options(int fd)
{
	const int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int stream_new(struct stream **ret, struct worker *w, int fd, const struct stream_ops *ops,
	       void *arg, struct err *e)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return err_errno(e, -errno, "stream: descriptor %d", fd);
	struct stream *s = stream_alloc(w, ops, arg);
	if (!s)
		return err_set(e, -ENOMEM, "stream: out of memory");
	stream_set_options(fd);
	tcp_addr_of_socket(&s->local, fd);
	tcp_addr_of_peer(&s->peer, fd);
	int r = watch_add(w, &s->watch, fd, 0);
	if (r < 0) {
		free(s);
		return err_errno(e, r, "stream: watch descriptor %d", fd);
	}
	*ret = s;
	return 0;
}

static bool is_open(const struct stream *s)
{
	return s->watch.fd >= 0;
}

static int socket_error(int fd)
{
	int code = 0;
	socklen_t len = sizeof code;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) < 0)
		return -errno;
	return -code;
}

// Data of the peer is read before the error is reported; unread data is lost with it.
static void handle_events(struct stream *s, uint32_t events)
{
	if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		s->is_hup = true;
	if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		s->ops.rx(s);
	if (is_open(s) && s->is_tx_blocked && (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))) {
		s->is_tx_blocked = false;
		s->ops.tx_ready(s);
	}
	if (is_open(s) && (events & EPOLLERR)) {
		int code = socket_error(s->watch.fd);
		stream_close(s, code ? code : -ECONNRESET);
	}
}

// True if the stream is connected and its events go to its owner.
static bool finish_connect(struct stream *s)
{
	int code = socket_error(s->watch.fd);

	if (code) {
		stream_close(s, code);
		return false;
	}
	tcp_addr_of_peer(&s->peer, s->watch.fd);
	if (s->peer.sa.sa_family == AF_UNSPEC)
		return false; // not yet
	s->is_connecting = false;
	timer_cancel(s->worker, &s->timeout);
	tcp_addr_of_socket(&s->local, s->watch.fd);
	s->ops.connected(s);
	return is_open(s);
}

static void on_event(struct watch *wa, uint32_t events)
{
	struct stream *s = container_of(wa, struct stream, watch);

	s->is_in_event = true;
	if (!s->is_connecting || finish_connect(s))
		handle_events(s, events);
	s->is_in_event = false;
	if (s->is_freed)
		free(s);
}

ssize_t stream_readv(struct stream *s, const struct iovec *iov, int count)
{
	struct msghdr m = { .msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)count };
	ssize_t n;

	if (!is_open(s) || s->is_connecting)
		return -ENOTCONN;
	do
		n = count == 1 ? recv(s->watch.fd, iov->iov_base, iov->iov_len, MSG_DONTWAIT)
			       : recvmsg(s->watch.fd, &m, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static bool is_short(size_t n, const struct iovec *iov, int count)
{
	for (int i = 0; i < count; i++) {
		if (n < iov[i].iov_len)
			return true;
		n -= iov[i].iov_len;
	}
	return false;
}

ssize_t stream_writev(struct stream *s, const struct iovec *iov, int count)
{
	struct msghdr m = { .msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)count };
	ssize_t n;

	if (!is_open(s) || s->is_connecting)
		return -ENOTCONN;
	do
		n = sendmsg(s->watch.fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		s->is_tx_blocked = errno == EAGAIN;
		return -errno;
	}
	s->is_tx_blocked = is_short((size_t)n, iov, count);
	return n;
}

bool stream_is_hup(const struct stream *s)
{
	return s->is_hup;
}

bool stream_is_closed(const struct stream *s)
{
	return !is_open(s);
}

void *stream_arg(const struct stream *s)
{
	return s->arg;
}

struct worker *stream_worker(const struct stream *s)
{
	return s->worker;
}

int stream_fd(const struct stream *s)
{
	return s->watch.fd;
}

const struct tcp_addr *stream_local(const struct stream *s)
{
	return &s->local;
}

const struct tcp_addr *stream_peer(const struct stream *s)
{
	return &s->peer;
}

void stream_tune_local(struct stream *s)
{
	static const char name[] = "reno"; // every kernel has it
	if (!is_open(s) ||
	    !(tcp_addr_same_ip(&s->local, &s->peer) || tcp_addr_is_loopback(&s->peer)))
		return;
	setsockopt(s->watch.fd, IPPROTO_TCP, TCP_CONGESTION, name, sizeof name - 1);
}

int stream_set_keepalive(struct stream *s, unsigned idle, unsigned interval, unsigned count)
{
	const struct {
		int level, option;
		unsigned value;
	} rows[] = {
		{SOL_SOCKET,   SO_KEEPALIVE,	    idle > 0			     },
		{ IPPROTO_TCP, TCP_KEEPIDLE,     idle				  },
		{ IPPROTO_TCP, TCP_KEEPINTVL,    interval			       },
		{ IPPROTO_TCP, TCP_KEEPCNT,	    count				  },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, (idle + interval * count) * 1000},
	};

	for (size_t i = 0; i < (idle ? sizeof rows / sizeof *rows : 1); i++)
		if (setsockopt(s->watch.fd, rows[i].level, rows[i].option, &rows[i].value,
			       sizeof rows[i].value) < 0)
			return -errno;
	return 0;
}

void stream_set_abortive(int fd, bool is_abortive)
{
	const struct linger l = { .l_onoff = is_abortive };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof l);
}

void stream_set_orderly(struct stream *s, bool is_orderly)
{
	if (is_open(s))
		stream_set_abortive(s->watch.fd, !is_orderly);
}

int stream_shutdown(struct stream *s)
{
	if (!is_open(s))
		return -ENOTCONN;
	return shutdown(s->watch.fd, SHUT_WR) < 0 ? -errno : 0;
}

// A close with unread bytes makes the kernel send a reset, which may destroy what we sent last,
// such as the reason of a refusal: discard unread bytes first.
static void discard_unread(int fd)
{
	const size_t most = 1 << 20;

	// Bounded: a peer that keeps sending does not block the worker.
	for (int i = 0; i < 8; i++)
		if (recv(fd, NULL, most, MSG_DONTWAIT | MSG_TRUNC) != (ssize_t)most)
			return;
}

static int release_fd(struct stream *s)
{
	int fd = s->watch.fd;

	timer_cancel(s->worker, &s->timeout);
	watch_remove(s->worker, &s->watch);
	s->is_tx_blocked = false;
	return fd;
}

static void close_socket(struct stream *s)
{
	int fd;

	if (!is_open(s))
		return;
	fd = release_fd(s);
	discard_unread(fd);
	close(fd);
}

static void report_closed(struct defer *d)
{
	struct stream *s = container_of(d, struct stream, report);

	s->ops.closed(s, s->reason);
}

void stream_close(struct stream *s, int reason)
{
	if (!is_open(s))
		return;
	close_socket(s);
	s->reason = reason;
	worker_defer(s->worker, &s->report, report_closed);
}

int stream_detach_fd(struct stream *s)
{
	if (!is_open(s) || s->is_connecting)
		return -ENOTCONN;
	return release_fd(s);
}

void stream_free(struct stream *s)
{
	if (!s || s->is_freed)
		return;
	close_socket(s);
	worker_defer_cancel(&s->report);
	if (s->is_in_event)
		s->is_freed = true; // on_event() is running and frees it
	else
		free(s);
}
