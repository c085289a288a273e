// SPDX-License-Identifier: BSD-2-Clause
// Detects the protocol on a portal's TCP socket: iSCSI, or iWARP with iSER. The first byte, which
// is peeked, decides; until it arrives, and during iWARP's startup, the connection has a mover that
// transfers nothing, so that limits, timeouts and reasons are those of every login. RFC 5044 7.1,
// RFC 7143 11.12. The connection's worker.
#include "target/iscsi/first_byte.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/counter.h"
#include "target/fabric/portal.h"
#include "target/iscsi/worker.h"
#include "transport/iser/dm_iser.h"
#include "transport/rdma/iwarp/iwarp.h"
#include "transport/wire/iwarp.h"

// A socket owned by iWARP until it delivers the peer's request or refuses it (iwarp.h).
struct greeting {
	struct waiting *waiting; // NULL: the connection has ended meanwhile
	struct list link;	 // iscsi_worker.greetings
};

struct waiting {
	struct dm dm;
	struct watch watch; // of the socket, until the first byte
	struct worker *worker;
	struct greeting *greeting;
	bool is_closed;
	uint64_t start_ns;
};

static struct waiting *waiting_of(struct dm *dm)
{
	return container_of(dm, struct waiting, dm);
}

static struct conn *conn_waiting(const struct waiting *w)
{
	return w->dm.role;
}

// --- the mover that transfers nothing ---

static int take_fd(struct waiting *w)
{
	int fd = w->watch.fd;
	watch_remove(w->worker, &w->watch);
	return fd;
}

static void waiting_close(struct dm *dm, bool linger, const struct err *why)
{
	struct waiting *w = waiting_of(dm);
	if (w->is_closed)
		return;
	w->is_closed = true;
	int fd = take_fd(w);
	if (fd >= 0)
		close(fd);
	if (w->greeting)
		w->greeting->waiting = NULL;
	w->greeting = NULL;
	dm->up->closed(dm, why);
}

static void waiting_free(struct dm *dm)
{
	free(waiting_of(dm));
}

static void waiting_counters(struct dm *dm, struct dm_counters *ret)
{
	*ret = (struct dm_counters){ .last_rx_ns = waiting_of(dm)->start_ns };
}

static uint64_t waiting_oldest_owed(struct dm *dm)
{
	return 0;
}

static void waiting_send(struct dm *dm, const uint8_t *bhs, const void *data, uint32_t len,
			 unsigned flags)
{
	// There is no request to answer.
}

static void waiting_get_data(struct dm *dm, struct dm_task *t, struct sg *sg, uint32_t nsg,
			     uint32_t len)
{
	// There are no commands.
}

static void waiting_put_part(struct dm *dm, struct dm_task *t, struct sg *sg, uint32_t nsg,
			     uint32_t len)
{
	// There are no commands.
}

static void waiting_put_data(struct dm *dm, struct dm_task *t, struct dm_result *r)
{
	// There are no commands.
}

static void waiting_full_feature(struct dm *dm, const struct iscsi_params *params)
{
	// There is no login.
}

static void waiting_flush(struct dm *dm)
{
	// Nothing is queued.
}

static void waiting_pause(struct dm *dm, bool is_paused)
{
	// Nothing is received.
}

static const struct dm_ops waiting_ops = {
	.send = waiting_send,
	.get_data = waiting_get_data,
	.put_part = waiting_put_part,
	.put_data = waiting_put_data,
	.full_feature = waiting_full_feature,
	.flush = waiting_flush,
	.pause = waiting_pause,
	.close = waiting_close,
	.free = waiting_free,
	.oldest_owed = waiting_oldest_owed,
	.counters = waiting_counters,
};

static struct waiting *waiting_new(struct conn *c, int fd)
{
	struct waiting *w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	w->worker = c->session.worker;
	w->start_ns = worker_now(c->session.worker);
	w->watch.fd = -1;
	w->dm.ops = &waiting_ops;
	w->dm.up = c->up;
	w->dm.role = c;
	w->dm.transport = w->dm.carrier = "unknown";
	tcp_addr_of_peer(&w->dm.peer_addr, fd);
	tcp_addr_of_socket(&w->dm.local_addr, fd);
	tcp_addr_format(&w->dm.peer_addr, w->dm.peer);
	tcp_addr_format(&w->dm.local_addr, w->dm.local);
	return w;
}

// Its wait has failed.
static void waiting_fail(struct waiting *w, const struct err *why)
{
	struct err e = *why;
	portal_refused(conn_waiting(w)->session.fabric, &w->dm.peer_addr, why->text);
	counter_add(&iscsi_worker()->counters.connections_refused, 1);
	e.code = -ESHUTDOWN; // reported already
	w->dm.ops->close(&w->dm, false, &e);
}

// --- iSER ---

static int begin_iser(struct conn *c, struct rnic_request *q, struct dm **ret, struct err *e)
{
	struct view *v = view_current(c->session.fabric);
	struct portal_attr attr = view_portal_attr(v, portal_addr(c->session.portal));
	const struct rnic_qp_options wanted = { .tos = (uint8_t)attr.tos,
						.pkey = (uint16_t)attr.pkey };
	view_put(v);
	return dm_iser_new(ret, q, &wanted, c->up, c, e);
}

// --- iWARP ---

static void greeting_free(struct greeting *g)
{
	list_remove(&g->link);
	if (g->waiting)
		g->waiting->greeting = NULL;
	free(g);
}

static void on_refused(void *arg, const struct tcp_addr *peer, const struct err *why)
{
	struct greeting *g = arg;
	struct waiting *w = g->waiting;
	greeting_free(g);
	if (w)
		waiting_fail(w, why);
}

static void on_request(void *arg, struct rnic_request *q)
{
	struct greeting *g = arg;
	struct waiting *w = g->waiting;
	struct dm *dm;
	struct err e = { 0 };
	greeting_free(g);
	if (!w)
		rnic_reject(q, NULL, 0);
	else if (begin_iser(conn_waiting(w), q, &dm, &e) < 0)
		waiting_fail(w, &e);
	else
		conn_set_mover(conn_waiting(w), dm);
}

static void on_gone(void *arg, struct rnic_request *q)
{
	// Every request was answered when it arrived.
}

static const struct rnic_listener_ops greeting_ops = {
	.request = on_request,
	.gone = on_gone,
	.refused = on_refused,
};

// The connection continues to wait, without its socket.
static int begin_iwarp(struct conn *c, int fd, struct err *e)
{
	struct waiting *w = c->dm ? waiting_of(c->dm) : waiting_new(c, fd);
	struct greeting *g = w ? calloc(1, sizeof *g) : NULL;
	if (w && !c->dm)
		conn_set_mover(c, &w->dm);
	if (!g) {
		close(fd);
		return err_set(e, -ENOMEM, "out of memory for a connection");
	}
	int r = iwarp_passive(c->session.worker, fd, &greeting_ops, g, e);
	if (r < 0) {
		free(g);
		return r;
	}
	g->waiting = w;
	w->greeting = g;
	list_push_back(&iscsi_worker()->greetings, &g->link);
	return 0;
}

// --- the first byte ---

static int begin_tcp(struct conn *c, int fd, struct err *e)
{
	struct dm *dm;
	int r = dm_tcp_new(&dm, c->session.worker, fd, c->up, c, e);
	if (!r)
		conn_set_mover(c, dm);
	return r;
}

static int begin(struct conn *c, int fd, uint8_t first, struct err *e)
{
	bool is_iwarp = first == MPA_FIRST_BYTE;
	// Logins have the bit for immediate delivery; some initiators omit it.
	if (!is_iwarp && (first & ~ISCSI_I) != ISCSI_OP_LOGIN_REQ) {
		close(fd);
		return err_set(e, -EPROTO, "not an iSCSI or iWARP connection");
	}
	c->transport = is_iwarp ? PORTAL_IWARP : PORTAL_TCP;
	if (portal_transports(c->session.portal) & c->transport)
		return is_iwarp ? begin_iwarp(c, fd, e) : begin_tcp(c, fd, e);
	close(fd);
	return err_set(e, -EPROTONOSUPPORT,
		       is_iwarp ? "iSER is not offered by this portal (set transport=all)"
				: "iSCSI over TCP is not offered by this portal (set "
				  "transport=all)");
}

static void on_first_byte(struct watch *watch, uint32_t events)
{
	struct waiting *w = container_of(watch, struct waiting, watch);
	uint8_t first;
	struct err e;
	ssize_t n = recv(watch->fd, &first, 1, MSG_PEEK | MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		err_set(&e, -ECONNRESET, "the peer closed without sending anything");
		w->dm.ops->close(&w->dm, false, &e);
		return;
	}
	// On success w is freed, or waits for iWARP.
	if (begin(conn_waiting(w), take_fd(w), first, &e) < 0)
		waiting_fail(w, &e);
}

static int wait_for_byte(struct conn *c, int fd, struct err *e)
{
	struct waiting *w = waiting_new(c, fd);
	if (!w) {
		close(fd);
		return err_set(e, -ENOMEM, "out of memory for a connection");
	}
	w->watch.fn = on_first_byte;
	int r = watch_add(c->session.worker, &w->watch, fd, EPOLLIN | EPOLLRDHUP);
	if (r < 0) {
		close(fd);
		free(w);
		return err_errno(e, r, "epoll");
	}
	conn_set_mover(c, &w->dm);
	return 0;
}

int mover_begin(struct conn *c, int fd, struct err *e)
{
	uint8_t first;
	ssize_t n = recv(fd, &first, 1, MSG_PEEK | MSG_DONTWAIT);
	if (n <= 0)
		return wait_for_byte(c, fd, e); // errors and the end are reported there
	return begin(c, fd, first, e);
}

int mover_begin_rdma(struct conn *c, struct rnic_request *q, struct err *e)
{
	struct dm *dm;
	c->transport = PORTAL_RDMA;
	int r = begin_iser(c, q, &dm, e);
	if (!r)
		conn_set_mover(c, dm);
	return r;
}
