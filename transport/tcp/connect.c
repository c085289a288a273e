// SPDX-License-Identifier: BSD-2-Clause
// Connecting without blocking, on the worker's thread.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/tcp/stream_priv.h"

static int open_socket(const struct tcp_addr *peer, const struct tcp_addr *local, struct err *e)
{
	char text[TCP_ADDR_TEXT];
	int fd = socket(peer->sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return err_errno(e, -errno, "connect to %s: create socket",
				 tcp_addr_format(peer, text));
	if (local && bind(fd, &local->sa, tcp_addr_len(local)) < 0) {
		int r = err_errno(e, -errno, "connect: bind to %s", tcp_addr_format(local, text));
		close(fd);
		return r;
	}
	stream_set_options(fd);
	stream_set_abortive(fd, true);
	return fd;
}

static void on_timeout(struct timer *t)
{
	struct stream *s = container_of(t, struct stream, timeout);

	stream_close(s, s->reason ? s->reason : -ETIMEDOUT);
}

// connect() may fail at once (loopback, no route); closed reports this like every other failure.
static void begin(struct stream *s, int fd, uint64_t timeout_usec)
{
	int r;

	do
		r = connect(fd, &s->peer.sa, tcp_addr_len(&s->peer));
	while (r < 0 && errno == EINTR);
	if (r < 0 && errno != EINPROGRESS)
		s->reason = -errno;
	if (s->reason)
		timer_arm(s->worker, &s->timeout, 0);
	else if (timeout_usec)
		timer_arm(s->worker, &s->timeout, timeout_usec);
}

int stream_connect(struct stream **ret, struct worker *w, const struct tcp_addr *peer,
		   const struct tcp_addr *local, uint64_t timeout_usec,
		   const struct stream_ops *ops, void *arg, struct err *e)
{
	int fd = open_socket(peer, local, e);

	if (fd < 0)
		return fd;
	struct stream *s = stream_alloc(w, ops, arg);
	if (!s) {
		close(fd);
		return err_set(e, -ENOMEM, "connect: out of memory");
	}
	s->is_connecting = true;
	timer_init(&s->timeout, on_timeout);
	s->peer = *peer;
	begin(s, fd, timeout_usec);
	int r = watch_add(w, &s->watch, fd, 0);
	if (r < 0) {
		timer_cancel(w, &s->timeout);
		close(fd);
		free(s);
		return err_errno(e, r, "connect: watch descriptor %d", fd);
	}
	*ret = s;
	return 0;
}
