// SPDX-License-Identifier: BSD-2-Clause
// Listening, and admission of clients.
#include "target/rpc/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/log.h"
#include "target/rpc/client.h"

// Closing storage is closed: sends the responses held for it.
static void release_held(void *arg)
{
	struct rpc_server *s = arg;
	list_for_each_safe (i, &s->clients) {
		struct client *c = list_entry(i, struct client, link);
		if (!c->is_held)
			continue;
		c->is_held = false;
		timer_cancel(s->control, &c->timer);
		client_work(c);
	}
}

// ---- too many clients ----

// Logged once, until half of the clients have left, so that clients that fill the socket do not
// fill the log.
static void tell_full(struct rpc_server *s)
{
	if (!s->has_told_full)
		log_warn("control socket: all %d connections are in use: the idlest one is closed "
			 "for each new client",
			 RPC_CLIENTS_MAX);
	s->has_told_full = true;
}

// Sends an error without a request, as far as the socket takes it.
static void tell_end(int fd, int code, const char *why)
{
	struct err e;
	size_t len;
	err_set(&e, code, "control socket: all %d connections are in use: %s", RPC_CLIENTS_MAX,
		why);
	char *text = rpc_refusal(&e, &len);
	if (text)
		(void)!send(fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	free(text);
}

static bool has_unread(const struct client *c)
{
	char byte;
	return recv(c->watch.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

static bool has_transaction(const struct client *c)
{
	struct config *config = c->server->context.config;
	if (config)
		config_set_caller(config, &c->who);
	return config && config_has_transaction(config);
}

// The cost of closing a client: 0 nothing; 1 a stalled request or answer;
// 2 a transaction. -1: must not be closed, because it is busy or has more rights than the new one.
static int rank(const struct client *c, bool is_for_admin, uint64_t now)
{
	bool is_working = c->out || frame_is_partial(&c->in);
	bool has_stuck = now - c->since_ns > RPC_STUCK_MS * UINT64_C(1000000);
	if (c->is_held || (c->is_admin && !is_for_admin) || (is_working && !has_stuck) ||
	    (!is_working && has_unread(c)))
		return -1;
	return has_transaction(c) ? 2 : is_working;
}

// Closes the client that costs least; among equals the one that has been idle for longest.
static bool make_room(struct rpc_server *s, bool is_for_admin)
{
	struct client *least = NULL;
	uint64_t now = clock_ns();
	int least_rank = 0;
	list_for_each (i, &s->clients) {
		struct client *c = list_entry(i, struct client, link);
		int r = rank(c, is_for_admin, now);
		if (r < 0 || (least && (r > least_rank ||
					(r == least_rank && c->since_ns >= least->since_ns))))
			continue;
		least = c;
		least_rank = r;
	}
	if (!least)
		return false;
	if (!least->out)
		tell_end(least->watch.fd, -ECONNABORTED,
			 "this one was idle for longest and is closed for a new client (connect "
			 "again)");
	client_free(least);
	return true;
}

static void take(struct rpc_server *s, int fd)
{
	struct ucred cred;
	socklen_t len = sizeof cred;
	int r = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 ? -errno : 0;
	bool is_full = s->client_count >= RPC_CLIENTS_MAX;
	if (!r && is_full) {
		tell_full(s);
		is_full = !make_room(s, client_is_admin(cred.uid));
	}
	if (is_full)
		tell_end(fd, -EBUSY, "none is idle (try again later)");
	else if (!r)
		r = client_new(s, fd, &cred);
	if (r < 0)
		log_warn("control socket: accept client: %s", strerror(-r));
	if (r < 0 || is_full)
		close(fd);
}

static void accept_all(struct rpc_server *s)
{
	for (;;) {
		int fd = accept4(s->watch.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		// Waiting connections raise no new event.
		if (fd < 0 && errno != EAGAIN)
			timer_arm(s->control, &s->again, RPC_PAUSE_MS * UINT64_C(1000));
		if (fd < 0)
			return;
		take(s, fd);
	}
}

static void on_event(struct watch *wa, uint32_t events)
{
	accept_all(container_of(wa, struct rpc_server, watch));
}

static void on_again(struct timer *t)
{
	accept_all(container_of(t, struct rpc_server, again));
}

int rpc_server_listen(struct rpc_server *s, struct err *e)
{
	int r = listen(s->file.fd, 32) < 0 ? -errno : 0;
	if (!r)
		r = watch_add(s->control, &s->watch, s->file.fd, EPOLLIN);
	return r < 0 ? err_errno(e, r, "%s: control socket", s->file.path) : 0;
}

int rpc_server_new(struct rpc_server **ret, struct worker *control, const char *path,
		   const struct rpc_context *context, struct err *e)
{
	struct rpc_server *s = calloc(1, sizeof *s);
	if (!s)
		return err_set(e, -ENOMEM, "control socket: out of memory");
	s->control = control;
	s->context = *context;
	s->watch = (struct watch){ .fn = on_event, .fd = -1 };
	timer_init(&s->again, on_again);
	list_init(&s->clients);
	int r = socket_file_init(&s->file, path, e);
	if (r < 0) {
		rpc_server_free(s);
		return r;
	}
	if (context->config)
		config_on_quiet(context->config, release_held, s);
	*ret = s;
	return 0;
}

void rpc_server_ending(struct rpc_server *s)
{
	release_held(s);
	s->context.config = NULL;
	s->context.stop = NULL;
}

void rpc_server_free(struct rpc_server *s)
{
	if (!s)
		return;
	list_for_each_safe (i, &s->clients)
		client_free(list_entry(i, struct client, link));
	timer_cancel(s->control, &s->again);
	watch_remove(s->control, &s->watch);
	socket_file_done(&s->file);
	free(s);
}
