// SPDX-License-Identifier: BSD-2-Clause
// Listeners of a worker, on its thread: bind, listen, the accept loop and its pauses.
#include "transport/tcp/listener.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define BACKLOG	     1024   // the kernel limits it to net.core.somaxconn
#define ACCEPT_ROUND 64	    // connections per round, so that others get their turn
#define PAUSE_USEC   100000 // retry interval if descriptors or memory are short

struct listener {
	struct watch watch;
	struct timer again; // continues accepting: in the next round, or after a pause
	struct worker *worker;
	struct listener_ops ops;
	void *arg;
	struct tcp_addr addr;
	bool is_in_trouble; // logged, until the backlog is empty again
	bool is_in_accept, is_freed;
};

static const struct {
	int code;
	const char *cause;
} causes[] = {
	{-EADDRINUSE,     "the port is in use (see ss -ltnp; stop the program or use another port)"},
	{ -EADDRNOTAVAIL, "no interface has this address"					  },
	{ -EACCES,	   "permission denied (ports below 1024 need root or CAP_NET_BIND_SERVICE)" },
	{ -EAFNOSUPPORT,	 "address family not supported by the kernel (IPv6 may be disabled)"	     },
	{ -EMFILE,	   "out of file descriptors (raise LimitNOFILE or ulimit -n)"		      },
	{ -ENFILE,	   "the system is out of file descriptors (raise fs.file-max)"	       },
	{ -ENOBUFS,	    "out of kernel memory for sockets"				       },
	{ -ENOMEM,	   "out of kernel memory for sockets"					      },
};

static const char *cause_of(int code)
{
	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
		if (causes[i].code == code)
			return causes[i].cause;
	return NULL;
}

static int listener_error(struct err *e, int code, const struct tcp_addr *addr, const char *what)
{
	char text[TCP_ADDR_TEXT];
	const char *cause = cause_of(code);

	tcp_addr_format(addr, text);
	if (cause)
		return err_set(e, code, "%s: %s: %s", text, what, cause);
	return err_errno(e, code, "%s: %s", text, what);
}

static void refuse(struct listener *l, int fd, const struct tcp_addr *peer)
{
	close(fd);
}

static void ignore(struct listener *l, const struct err *e)
{
}

static void accept_failed(struct listener *l, int code)
{
	struct err e;

	timer_arm(l->worker, &l->again, PAUSE_USEC);
	if (l->is_in_trouble)
		return;
	l->is_in_trouble = true;
	listener_error(&e, code, &l->addr, "accept");
	l->ops.trouble(l, &e);
}

// False: nothing more to accept now.
static bool accept_one(struct listener *l)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof ss;
	struct tcp_addr peer;
	int fd = accept4(l->watch.fd, (struct sockaddr *)&ss, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0) {
		tcp_addr_from_sockaddr(&peer, (struct sockaddr *)&ss, len);
		l->ops.accepted(l, fd, &peer);
		return true;
	}
	switch (errno) {
	case EAGAIN:
		l->is_in_trouble = false;
		return false;
	case EINTR:
	case ECONNABORTED: // that connection failed in the backlog; try the next one (accept(2))
	case EPROTO:
	case ENETDOWN:
	case ENETUNREACH:
	case EHOSTDOWN:
	case EHOSTUNREACH:
		return true;
	default:
		accept_failed(l, -errno);
		return false;
	}
}

static void accept_all(struct listener *l)
{
	int n = 0;

	l->is_in_accept = true;
	while (n < ACCEPT_ROUND && !l->is_freed && accept_one(l))
		n++;
	l->is_in_accept = false;
	if (l->is_freed)
		free(l);
	else if (n == ACCEPT_ROUND)
		timer_arm(l->worker, &l->again, 0);
}

static void on_event(struct watch *wa, uint32_t events)
{
	struct listener *l = container_of(wa, struct listener, watch);

	if (!timer_is_armed(&l->again))
		accept_all(l);
}

static void on_again(struct timer *t)
{
	accept_all(container_of(t, struct listener, again));
}

static int bind_and_listen(int fd, const struct tcp_addr *addr, struct err *e)
{
	const int on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on); // old connections in TIME_WAIT
	if (addr->sa.sa_family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) < 0)
		return listener_error(e, -errno, addr, "IPV6_V6ONLY");
	if (bind(fd, &addr->sa, tcp_addr_len(addr)) < 0)
		return listener_error(e, -errno, addr, "bind");
	if (listen(fd, BACKLOG) < 0)
		return listener_error(e, -errno, addr, "listen");
	return 0;
}

int listener_new(struct listener **ret, struct worker *w, const struct tcp_addr *addr,
		 const struct listener_ops *ops, void *arg, struct err *e)
{
	int fd = socket(addr->sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return listener_error(e, -errno, addr, "socket");
	int r = bind_and_listen(fd, addr, e);
	struct listener *l = r < 0 ? NULL : calloc(1, sizeof *l);
	if (!l) {
		close(fd);
		return r < 0 ? r : err_set(e, -ENOMEM, "listener: out of memory");
	}
	*l = (struct listener){ .worker = w, .arg = arg, .watch.fn = on_event };
	l->ops.accepted = ops->accepted ? ops->accepted : refuse;
	l->ops.trouble = ops->trouble ? ops->trouble : ignore;
	tcp_addr_of_socket(&l->addr, fd);
	timer_init(&l->again, on_again);
	r = watch_add(w, &l->watch, fd, EPOLLIN);
	if (r < 0) {
		close(fd);
		free(l);
		return listener_error(e, r, addr, "watch");
	}
	*ret = l;
	return 0;
}

void *listener_arg(const struct listener *l)
{
	return l->arg;
}

const struct tcp_addr *listener_addr(const struct listener *l)
{
	return &l->addr;
}

void listener_free(struct listener *l)
{
	if (!l || l->is_freed)
		return;
	int fd = l->watch.fd;
	timer_cancel(l->worker, &l->again);
	watch_remove(l->worker, &l->watch);
	close(fd);
	if (l->is_in_accept)
		l->is_freed = true; // accept_all() is running and frees it
	else
		free(l);
}
