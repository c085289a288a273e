// SPDX-License-Identifier: BSD-2-Clause
// Listening, clients and their buffers.
#include "target/rpc/server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/lockfile.h"
#include "core/log.h"
#include "target/rpc/frame.h"

struct client {
	struct list link;
	struct rpc_server *server;
	struct watch watch;
	struct timer timer; // a partial request, an answer not taken, or a held answer
	struct timer turn;  // when it goes on with what it has sent
	uint64_t turn_ns;   // when its turn began
	struct config_client who;
	bool is_admin, is_held, has_ended;
	uint64_t since_ns; // when it came, or a byte last came or went
	struct frame in;
	char *out;
	size_t out_len, out_done;
};

struct rpc_server {
	struct worker *control;
	struct rpc_context context;
	struct watch watch;
	struct timer again; // accepts when descriptors or memory may be there again
	int lock_fd, bound_fd;
	bool is_bound;	    // the path is ours to remove
	bool has_told_full; // that there are too many clients
	char *path, *lock_path;
	struct list clients;
	unsigned client_count;
	uint64_t last_id; // of a client
};

static void client_free(struct client *c)
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

// Writes what is there; false when the client is gone.
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

// Whoever sends without a pause would have the thread for himself.
static bool has_turn(const struct client *c)
{
	return clock_ns() - c->turn_ns < RPC_TURN_MS * UINT64_C(1000000);
}

// Answers whole requests until one has to wait; false when the client is gone.
static bool answer_all(struct client *c)
{
	struct rpc_server *s = c->server;
	size_t len;
	char *line;
	while (!c->out && !c->is_held && has_turn(c) && (line = frame_next(&c->in, &len))) {
		if (!len)
			continue;
		timer_cancel(s->control, &c->timer); // the next request has its time from now on
		unsigned before = closing(s);
		if (s->context.config)
			config_set_caller(s->context.config, &c->who);
		c->out = rpc_answer(&s->context, line, len, c->is_admin, &c->out_len);
		explicit_bzero(line, len);
		// What was just deleted may still be held by sessions that are ending; whoever
		// is told "deleted" may rely on the file or device being free.
		c->is_held = closing(s) > before;
		if (!c->is_held && c->out && !flush(c))
			return false;
	}
	return true;
}

// Reads until there is nothing more or its turn is over; false when the client is gone.
static bool fill(struct client *c)
{
	while (!c->out && !c->is_held && !c->has_ended && has_turn(c)) {
		char *at;
		size_t room;
		int r = frame_room(&c->in, &at, &room);
		if (r < 0) {
			log_warn("control socket: request longer than %d bytes, client dropped",
				 RPC_REQUEST_MAX);
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

static void work(struct client *c)
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
		timer_arm(w, &c->timer,
			  (c->is_held ? RPC_HOLD_S : RPC_PARTIAL_S) * UINT64_C(1000000));
}

static void client_turn(struct timer *t)
{
	work(container_of(t, struct client, turn));
}

static void client_event(struct watch *wa, uint32_t events)
{
	struct client *c = container_of(wa, struct client, watch);
	if (events & EPOLLERR)
		client_free(c);
	else
		work(c);
}

static void client_timeout(struct timer *t)
{
	struct client *c = container_of(t, struct client, timer);
	if (!c->is_held) {
		client_free(c);
		return;
	}
	c->is_held = false;
	work(c);
}

// Storage that was being closed is closed: answers that waited for it go out.
static void release_held(void *arg)
{
	struct rpc_server *s = arg;
	list_for_each_safe (i, &s->clients) {
		struct client *c = list_entry(i, struct client, link);
		if (!c->is_held)
			continue;
		c->is_held = false;
		timer_cancel(s->control, &c->timer);
		work(c);
	}
}

static bool is_admin(uid_t uid)
{
	// Whoever else the administrator lets at the socket may look and no more.
	return uid == 0 || uid == geteuid();
}

static int client_new(struct rpc_server *s, int fd, const struct ucred *cred)
{
	struct client *c = calloc(1, sizeof *c);
	if (!c)
		return -ENOMEM;
	c->server = s;
	c->since_ns = clock_ns();
	c->who = (struct config_client){ ++s->last_id, cred->pid, cred->uid };
	c->is_admin = is_admin(cred->uid);
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

// ---- when there are too many ----

// Told once, until half of the clients have left: whoever fills the socket may not fill the log as
// well.
static void tell_full(struct rpc_server *s)
{
	if (!s->has_told_full)
		log_warn("control socket: %d clients: the idlest makes way for the next (end some)",
			 RPC_CLIENTS_MAX);
	s->has_told_full = true;
}

// An error to no request in particular, as much of it as the socket takes.
static void tell_end(int fd, int code, const char *why)
{
	struct err e;
	size_t len;
	err_set(&e, code, "control socket: %d clients are connected, %s", RPC_CLIENTS_MAX, why);
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

// How little is lost with a client: 0 nothing; 1 a request or answer that has stood still;
// 2 a transaction. -1: it is at work, or more than whoever comes.
static int rank(const struct client *c, bool is_for_admin, uint64_t now)
{
	bool is_working = c->out || frame_is_partial(&c->in);
	bool has_stuck = now - c->since_ns > RPC_STUCK_MS * UINT64_C(1000000);
	if (c->is_held || (c->is_admin && !is_for_admin) || (is_working && !has_stuck) ||
	    (!is_working && has_unread(c)))
		return -1;
	return has_transaction(c) ? 2 : is_working;
}

// Ends the client whose end costs least, among several the one that has been silent for longest.
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
			 "and this one was silent for longest: its place went to another (connect "
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
		is_full = !make_room(s, is_admin(cred.uid));
	}
	if (is_full)
		tell_end(fd, -EBUSY, "all at work (try again, or end some)");
	else if (!r)
		r = client_new(s, fd, &cred);
	if (r < 0)
		log_warn("control socket: client refused: %s", strerror(-r));
	if (r < 0 || is_full)
		close(fd);
}

static void accept_all(struct rpc_server *s)
{
	for (;;) {
		int fd = accept4(s->watch.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		// Whoever waits already is no new event.
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

// ---- the socket's file ----

static int is_answered(const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	int r = connect(fd, (const struct sockaddr *)a, sizeof *a) < 0 ? -errno : 1;
	close(fd);
	return r == -EAGAIN ? 1 : r; // a full backlog belongs to somebody
}

static int make_way(const struct sockaddr_un *a, struct err *e)
{
	struct stat st;
	if (lstat(a->sun_path, &st) < 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, -EEXIST,
			       "%s: exists and is no socket (remove it, or use --socket)",
			       a->sun_path);
	int r = is_answered(a);
	if (r > 0)
		return err_set(e, -EADDRINUSE,
			       "%s: another farblockd answers there (stop it, or use --socket)",
			       a->sun_path);
	if (r != -ECONNREFUSED && r != -ENOENT)
		return err_errno(e, r, "%s: cannot be asked whether it lives", a->sun_path);
	unlink(a->sun_path);
	return 0;
}

static int take_lock(struct rpc_server *s, struct err *e)
{
	int r = lockfile_take(s->lock_path, &s->lock_fd, e);
	if (r == -EADDRINUSE)
		return err_set(e, r, "%s: another farblockd runs there (stop it, or use --socket)",
			       s->path);
	return r;
}

static int bind_to(struct rpc_server *s, struct err *e)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	if (strlen(s->path) >= sizeof a.sun_path)
		return err_set(e, -ENAMETOOLONG, "%.80s...: socket path longer than %zu bytes",
			       s->path, sizeof a.sun_path - 1);
	snprintf(a.sun_path, sizeof a.sun_path, "%s", s->path);
	int r = folder_make_for(s->path, 0755, e);
	if (!r)
		r = take_lock(s, e);
	if (!r)
		r = make_way(&a, e);
	if (r < 0)
		return r;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_errno(e, -errno, "control socket");
	mode_t old = umask(0177);
	r = bind(fd, (struct sockaddr *)&a, sizeof a) < 0 ? -errno : 0;
	umask(old);
	s->bound_fd = fd;
	s->is_bound = !r;
	return r < 0 ? err_errno(e, r, "%s: control socket", s->path) : 0;
}

int rpc_server_listen(struct rpc_server *s, struct err *e)
{
	int r = listen(s->bound_fd, 32) < 0 ? -errno : 0;
	if (!r)
		r = watch_add(s->control, &s->watch, s->bound_fd, EPOLLIN);
	return r < 0 ? err_errno(e, r, "%s: control socket", s->path) : 0;
}

int rpc_server_new(struct rpc_server **ret, struct worker *control, const char *path,
		   const struct rpc_context *context, struct err *e)
{
	struct rpc_server *s = calloc(1, sizeof *s);
	if (!s)
		return err_set(e, -ENOMEM, "control socket: out of memory");
	s->control = control;
	s->context = *context;
	s->lock_fd = s->bound_fd = -1;
	s->watch = (struct watch){ .fn = on_event, .fd = -1 };
	timer_init(&s->again, on_again);
	list_init(&s->clients);
	s->path = strdup(path);
	if (!s->path || asprintf(&s->lock_path, "%s.lock", path) < 0) {
		rpc_server_free(s);
		return err_set(e, -ENOMEM, "control socket: out of memory");
	}
	int r = bind_to(s, e);
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
	if (s->is_bound)
		unlink(s->path);
	if (s->bound_fd >= 0)
		close(s->bound_fd);
	if (s->lock_fd >= 0)
		close(s->lock_fd); // its file stays: removing it would let two in
	free(s->path);
	free(s->lock_path);
	free(s);
}
