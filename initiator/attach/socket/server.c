// SPDX-License-Identifier: BSD-2-Clause
// See server.h. A client has 10 s to negotiate, and PATIENCE_MS for each request that it has begun
// to send and each answer that it has to take; between requests it may idle. Of further clients
// than SERVER_CLIENTS_MAX the connection is closed.
#include "initiator/attach/socket/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/log.h"
#include "core/worker.h"
#include "initiator/attach/nbd_flags.h"
#include "initiator/attach/nbd_reply.h"
#include "initiator/attach/nbd_wire.h"
#include "initiator/attach/socket/negotiation.h"
#include "initiator/attach/transmission.h"

#define NEGOTIATION_US (10 * 1000000ull)
#define PATIENCE_MS    60000 // of a client that is in the middle of a request or an answer
// Also of a disk without a cache, or without FUA: clients that insist on both can use any disk.
#define CAN_ALWAYS (NBD_CAN_FLUSH | NBD_CAN_FUA | NBD_CAN_MULTI_CONN)

struct client {
	struct list link;
	struct server *server;
	int fd;
	struct watch watch;
	struct timer timer;
	struct defer over;
	struct negotiation negotiation;
	uint32_t have;
	struct transmission *transmission;
	uint8_t in[NEGOTIATION_IN_MAX];
};

struct server {
	struct disk *disk;
	const char *name;
	int listener;
	struct watch watch;
	struct list clients;
	unsigned count;
};

static void client_free(struct client *c)
{
	struct worker *w = disk_worker(c->server->disk);
	list_remove(&c->link);
	c->server->count--;
	watch_remove(w, &c->watch);
	timer_cancel(w, &c->timer);
	worker_defer_cancel(&c->over);
	transmission_free(c->transmission);
	close(c->fd);
	free(c);
}

static void on_over(struct defer *d)
{
	client_free(container_of(d, struct client, over));
}

static void ended(void *arg, const struct err *why)
{
	struct client *c = arg;
	if (why->code)
		log_debug("%s: a client is ended: %s", c->server->name, why->text);
	worker_defer(disk_worker(c->server->disk), &c->over, on_over);
}

static void on_late(struct timer *t)
{
	client_free(container_of(t, struct client, timer));
}

// An answer is small: a client that does not take it is closed.
static bool give(struct client *c, const uint8_t *out, size_t len)
{
	return !len || send(c->fd, out, len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len;
}

static bool begin_transmission(struct client *c)
{
	struct worker *w = disk_worker(c->server->disk);
	struct transmission_config config = {
		.fd = c->fd,
		.ended = ended,
		.arg = c,
		.patience_ms = PATIENCE_MS,
		.offer = {c->negotiation.export.flags, c->negotiation.is_structured,
			   c->negotiation.has_allocation},
	};
	struct err ignored;
	watch_remove(w, &c->watch);
	timer_cancel(w, &c->timer);
	return !transmission_new(&c->transmission, c->server->disk, &config, &ignored);
}

// False: the client is to be closed.
static bool take(struct client *c)
{
	uint8_t out[NEGOTIATION_OUT_MAX];
	struct negotiation *n = &c->negotiation;
	size_t len = negotiation_take(n, c->in, out);
	c->have = 0;
	if (!give(c, out, len) || n->state == NEGOTIATION_FAILED)
		return false;
	return n->state != NEGOTIATION_DONE || begin_transmission(c);
}

static void on_client(struct watch *watch, uint32_t events)
{
	struct client *c = container_of(watch, struct client, watch);
	struct negotiation *n = &c->negotiation;
	while (!c->transmission) {
		ssize_t got = recv(c->fd, c->in + c->have, n->want - c->have, MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return;
		c->have += got > 0 ? (uint32_t)got : 0;
		if (got <= 0 || (c->have == n->want && !take(c))) {
			client_free(c);
			return;
		}
	}
}

static struct negotiation_export export_of(const struct server *s)
{
	const struct disk_facts *f = disk_facts(s->disk);
	uint16_t flags = (uint16_t)(nbd_flags_of(f) | CAN_ALWAYS);
	if (flags & NBD_CAN_WRITE_ZEROES)
		flags |= NBD_CAN_FAST_ZERO; // refused where they would not be fast
	return (struct negotiation_export){
		.name = s->name,
		.bytes = f->blocks * f->block_size,
		.block_size = f->block_size,
		.preferred = f->physical_block_size > 4096 ? f->physical_block_size : 4096,
		.data_max = NBD_DATA_MAX,
		.flags = flags,
		.context = NBD_ALLOCATION,
	};
}

static void client_begin(struct server *s, int fd)
{
	struct worker *w = disk_worker(s->disk);
	struct negotiation_export export = export_of(s);
	uint8_t out[NEGOTIATION_OUT_MAX];
	struct client *c = s->count < SERVER_CLIENTS_MAX ? calloc(1, sizeof *c) : NULL;
	if (!c) {
		close(fd);
		return;
	}
	c->server = s;
	c->fd = fd;
	c->watch = (struct watch){ .fn = on_client, .fd = -1 };
	timer_init(&c->timer, on_late);
	list_push_back(&s->clients, &c->link);
	s->count++;
	size_t len = negotiation_begin(&c->negotiation, &export, out);
	if (!give(c, out, len) || watch_add(w, &c->watch, fd, EPOLLIN | EPOLLRDHUP) < 0)
		client_free(c);
	else
		timer_arm(w, &c->timer, NEGOTIATION_US);
}

static void on_listener(struct watch *watch, uint32_t events)
{
	struct server *s = container_of(watch, struct server, watch);
	int fd;
	while ((fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		client_begin(s, fd);
}

int server_new(struct server **ret, struct disk *d, int listener, const char *name, struct err *e)
{
	struct server *s = calloc(1, sizeof *s);
	*ret = NULL;
	if (!s) {
		close(listener);
		return err_set(e, -ENOMEM, "socket: out of memory");
	}
	*s = (struct server){ .disk = d, .name = name, .listener = listener };
	s->watch = (struct watch){ .fn = on_listener, .fd = -1 };
	list_init(&s->clients);
	int r = watch_add(disk_worker(d), &s->watch, listener, EPOLLIN);
	if (r < 0) {
		server_free(s);
		return err_errno(e, r, "socket: watch");
	}
	*ret = s;
	return 0;
}

unsigned server_clients(const struct server *s)
{
	return s->count;
}

void server_free(struct server *s)
{
	if (!s)
		return;
	watch_remove(disk_worker(s->disk), &s->watch);
	close(s->listener);
	while (!list_empty(&s->clients))
		client_free(list_entry(s->clients.next, struct client, link));
	free(s);
}
