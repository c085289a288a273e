// SPDX-License-Identifier: BSD-2-Clause
#include "target/rpc/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/log.h"

void client_free(struct client *c)
{
	struct rpc_server *s = c->server;
	int fd = c->watch.fd;
	if (s->context.config)
		config_client_gone(s->context.config, c->who.id);
	timer_cancel(s->control, &c->timer);
	timer_cancel(s->control, &c->turn);
	watch_remove(s->control, &c->watch);
	close(fd);
	list_remove(&c->link);
	s->client_count--;
	if (s->client_count <= RPC_CLIENTS_MAX / 2)
		s->has_told_full = false;
	frame_done(&c->in);
	free(c->out);
	free(c);
}

// Sends pending output; false: the client is gone.
static bool flush(struct client *c)
{
	while (c->out_done < c->out_len) {
		ssize_t n = send(c->watch.fd, c->out + c->out_done, c->out_len - c->out_done,
				 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		c->since_ns = clock_ns();
		c->out_done += (size_t)n;
	}
	free(c->out);
	c->out = NULL;
	c->out_len = c->out_done = 0;
	return true;
}

static unsigned closing(const struct rpc_server *s)
{
	return s->context.config ? config_closing(s->context.config) : 0;
}

// Limits a turn, so that a client that sends without pause does not block others.
static bool has_turn(const struct client *c)
{
	return clock_ns() - c->turn_ns < RPC_TURN_MS * UINT64_C(1000000);
}

// Processes complete requests until one must wait; false: the client is gone.
static bool answer_all(struct client *c)
{
	struct rpc_server *s = c->server;
	size_t len;
	char *line;
	while (!c->out && !c->is_held && has_turn(c) && (line = frame_next(&c->in, &len))) {
		if (!len)
			continue;
		timer_cancel(s->control, &c->timer); // the time of the next request starts now
		unsigned before = closing(s);
		if (s->context.config)
			config_set_caller(s->context.config, &c->who);
		c->out = rpc_answer(&s->context, line, len, c->is_admin, &c->out_len);
		explicit_bzero(line, len);
		// A deleted object may still be held by sessions that are ending; a client
		// that gets "deleted" may rely on the file or device being free.
		c->is_held = closing(s) > before;
		if (!c->is_held && c->out && !flush(c))
			return false;
	}
	return true;
}

// Reads until nothing is left or its turn is over; false: the client is gone.
static bool fill(struct client *c)
{
	while (!c->out && !c->is_held && !c->has_ended && has_turn(c)) {
		char *at;
		size_t room;
		int r = frame_room(&c->in, &at, &room);
		if (r < 0) {
			log_warn("control socket: client dropped: request longer than %zu bytes",
				 c->in.max);
			return false;
		}
		ssize_t n = recv(c->watch.fd, at, room, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		c->has_ended = n == 0;
		c->since_ns = clock_ns();
		frame_filled(&c->in, (size_t)n);
		if (!answer_all(c))
			return false;
	}
	return true;
}

// From now on, not from worker_now(): the answer may have taken longer than the limit, and this
// time is not the client's.
static void client_limit(struct client *c, unsigned seconds)
{
	struct worker *w = c->server->control;
	uint64_t answering_usec = (clock_ns() - worker_now(w)) / 1000;
	timer_arm(w, &c->timer, answering_usec + seconds * UINT64_C(1000000));
}

void client_work(struct client *c)
{
	struct worker *w = c->server->control;
	c->turn_ns = clock_ns();
	bool is_alive = (c->is_held || flush(c)) && answer_all(c) && fill(c);
	bool goes_on = is_alive && !c->out && !c->is_held && !has_turn(c);
	if (!is_alive || (c->has_ended && !c->out && !c->is_held && !goes_on)) {
		client_free(c);
		return;
	}
	if (goes_on && !timer_is_armed(&c->turn))
		timer_arm(w, &c->turn, 1000);
	bool is_waiting = c->out || c->is_held || frame_is_partial(&c->in);
	if (!is_waiting)
		timer_cancel(w, &c->timer);
	else if (!timer_is_armed(&c->timer))
		client_limit(c, c->is_held ? RPC_HOLD_S : RPC_PARTIAL_S);
}

static void client_turn(struct timer *t)
{
	client_work(container_of(t, struct client, turn));
}

static void client_event(struct watch *wa, uint32_t events)
{
	struct client *c = container_of(wa, struct client, watch);
	if (events & EPOLLERR)
		client_free(c);
	else
		client_work(c);
}

static void client_timeout(struct timer *t)
{
	struct client *c = container_of(t, struct client, timer);
	if (!c->is_held) {
		log_warn("control socket: client dropped: %s after %d s",
			 c->out ? "response not read" : "request incomplete", RPC_PARTIAL_S);
		client_free(c);
		return;
	}
	c->is_held = false;
	client_work(c);
}

bool client_is_admin(uid_t uid)
{
	// Other users with access to the socket may only read.
	return uid == 0 || uid == geteuid();
}

int client_new(struct rpc_server *s, int fd, const struct ucred *cred)
{
	struct client *c = calloc(1, sizeof *c);
	if (!c)
		return -ENOMEM;
	c->server = s;
	c->since_ns = clock_ns();
	c->who = (struct config_client){ ++s->last_id, cred->pid, cred->uid };
	c->is_admin = client_is_admin(cred->uid);
	c->in.max = c->is_admin ? RPC_DOCUMENT_MAX : RPC_REQUEST_MAX;
	c->in.has_secrets = true;
	c->watch = (struct watch){ .fn = client_event, .fd = -1 };
	timer_init(&c->timer, client_timeout);
	timer_init(&c->turn, client_turn);
	int r = watch_add(s->control, &c->watch, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP);
	if (r < 0) {
		free(c);
		return r;
	}
	list_push_back(&s->clients, &c->link);
	s->client_count++;
	return 0;
}
