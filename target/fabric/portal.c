// SPDX-License-Identifier: BSD-2-Clause
// Portals: listeners, retried until they are bound, and the connections that they pass to workers.
// Control thread, except for the counts, which workers lower when a connection ends.
#include "target/fabric/portal.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/counter.h"
#include "core/fds.h"
#include "core/log.h"
#include "target/fabric/fabric.h"
#include "target/fabric/peer_limits.h"
#include "target/fabric/peer_log.h"
#include "target/fabric/portal_rdma.h"
#include "transport/tcp/listener.h"

#define RETRY_US 1000000u

struct portal {
	struct list link;
	const struct fabric_ops *fabric;
	struct tcp_addr addr;
	struct worker *control;
	struct listener *listener; // NULL while waiting, and if no user wants PORTAL_SOCKET
	struct timer retry;
	struct err why;
	unsigned users;
	unsigned users_of[3];		 // users of PORTAL_TCP, PORTAL_RDMA, PORTAL_IWARP
	unsigned transports;		 // relaxed atomic: those with a user
	struct portal_rdma rdma;	 // while PORTAL_RDMA has one
	struct portal_rdma service;	 // the same by service id of InfiniBand
	bool has_socket;		 // relaxed atomic: listener exists
	int refs;			 // atomic: users, connections and views
	struct portal_counters counters; // relaxed atomics
	struct session_traffic *ended;	 // of ended sessions, by worker; each worker accesses only
					 // its own
};

// A connection being passed to its worker.
struct hand_over {
	struct msg msg;
	int fd;
	struct portal *portal;
	struct worker *worker;
};

static struct list portals = { &portals, &portals };
static unsigned loads[WORKER_MAX]; // relaxed atomics: connections of each worker

static void load_add(unsigned worker, int change)
{
	__atomic_add_fetch(&loads[worker], (unsigned)change, __ATOMIC_RELAXED);
}

static unsigned quietest_worker(void)
{
	unsigned best = 0, best_load = UINT32_MAX;
	for (unsigned i = 0; i < worker_count(); i++) {
		unsigned n = __atomic_load_n(&loads[i], __ATOMIC_RELAXED);
		if (n < best_load) {
			best = i;
			best_load = n;
		}
	}
	return best;
}

static struct worker *worker_for(const struct portal *p, const struct tcp_addr *peer)
{
	return p->fabric->assign(peer, worker_at(quietest_worker()));
}

struct portal *portal_get(struct portal *p)
{
	__atomic_add_fetch(&p->refs, 1, __ATOMIC_RELAXED);
	return p;
}

void portal_put(struct portal *p)
{
	if (!p || __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL))
		return;
	free(p->ended);
	free(p);
}

void portal_conn_closed(struct portal *p, const struct tcp_addr *peer)
{
	peers_leave(peer);
	load_add(worker_index(worker_self()), -1);
	__atomic_sub_fetch(&p->counters.connections, 1, __ATOMIC_RELAXED);
	portal_put(p);
}

void portal_note_login(struct portal *p)
{
	__atomic_add_fetch(&p->counters.logins, 1, __ATOMIC_RELAXED);
}

void portal_note_failure(struct portal *p, enum refusal_cause why)
{
	__atomic_add_fetch(&p->counters.login_failures[why], 1, __ATOMIC_RELAXED);
}

void portal_note_end(struct portal *p, const struct session_traffic *traffic)
{
	traffic_add(&p->ended[worker_index(worker_self())], traffic);
}

const struct session_traffic *portal_ended_here(const struct portal *p)
{
	return &p->ended[worker_index(worker_self())];
}

// --- accepting ---

void portal_refused(const struct fabric_ops *fabric, const struct tcp_addr *peer, const char *why)
{
	char cause[64], text[TCP_ADDR_TEXT];
	tcp_addr_format(peer, text);
	refusal_note("", "", text, REFUSED_OTHER, fabric->status_full, why);
	snprintf(cause, sizeof cause, "connection refused: %s", why);
	if (peer_log_permits(LOG_LVL_WARN, fabric->name, cause, peer))
		log_warn("%s: connection from %s refused: %s", fabric->name, text, why);
}

static void refuse(struct portal *p, const struct tcp_addr *peer, const char *why)
{
	portal_refused(p->fabric, peer, why);
	__atomic_add_fetch(&p->counters.refused, 1, __ATOMIC_RELAXED);
}

static void hand_over_run(struct msg *m)
{
	struct hand_over *h = container_of(m, struct hand_over, msg);
	h->portal->fabric->accept(h->worker, h->fd, NULL, h->portal);
	free(h);
}

static void count_accepted(struct portal *p, unsigned worker)
{
	load_add(worker, 1);
	__atomic_add_fetch(&p->counters.accepted, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&p->counters.connections, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&p->refs, 1, __ATOMIC_RELAXED);
}

static void on_accepted(struct listener *l, int fd, const struct tcp_addr *peer)
{
	struct portal *p = listener_arg(l);
	struct hand_over *h = calloc(1, sizeof *h);
	const char *why = "out of memory";
	if (h && (unsigned)fd >= fds_mark(FDS_CONNECTIONS))
		why = "the remaining file descriptors are reserved for storage and administration";
	else if (h)
		why = peers_enter(peer);
	if (why) {
		free(h);
		refuse(p, peer, why);
		close(fd);
		return;
	}
	h->msg.fn = hand_over_run;
	h->fd = fd;
	h->portal = p;
	h->worker = worker_for(p, peer);
	count_accepted(p, worker_index(h->worker));
	worker_post(h->worker, &h->msg);
}

static void on_trouble(struct listener *l, const struct err *e)
{
	log_error("portal %s", e->text); // it begins with the address
}

static const struct listener_ops listener_ops = {
	.accepted = on_accepted,
	.trouble = on_trouble,
};

// --- RDMA devices ---

static struct worker *on_rdma_assign(void *arg, const struct tcp_addr *peer)
{
	return worker_for(arg, peer);
}

static void on_rdma_request(void *arg, struct rnic_request *q)
{
	struct portal *p = arg;
	struct worker *w = worker_self();
	const char *why = peers_enter(&q->peer_addr);
	if (why) {
		refuse(p, &q->peer_addr, why);
		rnic_reject(q, NULL, 0);
		return;
	}
	count_accepted(p, worker_index(w));
	p->fabric->accept(w, -1, q, p);
}

static void on_rdma_gone(void *arg, struct rnic_request *q)
{
	struct portal *p = arg; // counted by the connection that has the request
	p->fabric->gone(q);
}

static void on_rdma_refused(void *arg, const struct tcp_addr *peer, const struct err *why)
{
	refuse(arg, peer, why->text);
}

static void on_rdma_failed(void *arg, const struct err *e)
{
	struct portal *p = arg;
	portal_rdma_failed(&p->rdma, e);
}

static const struct rnic_listener_ops rdma_ops = {
	.assign = on_rdma_assign,
	.request = on_rdma_request,
	.gone = on_rdma_gone,
	.refused = on_rdma_refused,
	.failed = on_rdma_failed,
};

static void on_service_failed(void *arg, const struct err *e)
{
	struct portal *p = arg;
	portal_rdma_failed(&p->service, e);
}

static const struct rnic_listener_ops service_ops = {
	.assign = on_rdma_assign,
	.request = on_rdma_request,
	.gone = on_rdma_gone,
	.refused = on_rdma_refused,
	.failed = on_service_failed,
};

static void rdma_stop(struct portal *p)
{
	portal_rdma_stop(&p->rdma);
	portal_rdma_stop(&p->service);
}

// A service id has no address: only portals on all addresses have one.
static void service_follow(struct portal *p)
{
	if (!p->fabric->has_service_ids || !tcp_addr_is_wildcard(&p->addr))
		return;
	p->service.ib_ports = ib_ports;
	portal_rdma_start(&p->service, p->fabric->devices, p->control, &p->addr, &service_ops, p);
}

// With the kernel's siw the first listener gets the port: TCP must be first if it is wanted, since
// all transports can use it.
static void rdma_follow(struct portal *p)
{
	unsigned offered = portal_transports(p);
	bool is_alone = !(offered & PORTAL_SOCKET), is_new = !p->rdma.is_started;
	char text[TCP_ADDR_TEXT];
	if (!(offered & PORTAL_RDMA) || !p->fabric->devices || (!p->listener && !is_alone)) {
		rdma_stop(p);
		return;
	}
	service_follow(p);
	portal_rdma_start(&p->rdma, p->fabric->devices, p->control, &p->addr, &rdma_ops, p);
	if (is_new && is_alone && *portal_reason(p))
		log_warn("portal %s: waiting: %s", tcp_addr_format(&p->addr, text),
			 portal_reason(p));
}

const char *portal_rdma_waits(const struct portal *p)
{
	return portal_state(p) == PORTAL_LISTENING ? portal_rdma_reason(&p->rdma) : NULL;
}

const char *portal_service_waits(const struct portal *p)
{
	return p->service.why.code == -ENODEV ? NULL : portal_rdma_reason(&p->service);
}

// --- binding ---

// Another portal of ours that has the port because one of the two is a wildcard, or NULL.
static const struct portal *wildcard_clash(const struct portal *p)
{
	list_for_each (it, &portals) {
		const struct portal *o = list_entry(it, struct portal, link);
		if (o != p && o->listener && o->addr.sa.sa_family == p->addr.sa.sa_family &&
		    tcp_addr_port(&o->addr) == tcp_addr_port(&p->addr) &&
		    (tcp_addr_is_wildcard(&o->addr) || tcp_addr_is_wildcard(&p->addr)))
			return o;
	}
	return NULL;
}

// Without the address at its beginning, since output already names the portal.
static const char *bare(const struct portal *p, const char *why)
{
	char addr[TCP_ADDR_TEXT];
	size_t len = strlen(tcp_addr_format(&p->addr, addr));
	bool has_addr = !strncmp(why, addr, len) && why[len] == ':' && why[len + 1] == ' ';
	return why + (has_addr ? len + 2 : 0);
}

static void waiting_why(const struct portal *p, const struct err *cause, struct err *ret)
{
	const struct portal *o = cause->code == -EADDRINUSE ? wildcard_clash(p) : NULL;
	char other[TCP_ADDR_TEXT];
	if (o)
		err_set(ret, cause->code,
			"bind: portal %s already listens on %s (delete one, or give one "
			"another port)",
			tcp_addr_format(&o->addr, other),
			tcp_addr_is_wildcard(&o->addr) ? "every address of this port"
						       : "an address of this port");
	else
		err_set(ret, cause->code, "%s", bare(p, cause->text));
}

static void portal_try(struct portal *p)
{
	struct err e = { 0 }, why;
	char text[TCP_ADDR_TEXT];
	tcp_addr_format(&p->addr, text);
	int r = listener_new(&p->listener, p->control, &p->addr, &listener_ops, p, &e);
	if (!r) {
		__atomic_store_n(&p->has_socket, true, __ATOMIC_RELAXED);
		if (p->why.code)
			log_info("portal %s: listening", text);
		p->why = (struct err){ 0 };
		rdma_follow(p);
		return;
	}
	waiting_why(p, &e, &why);
	if (strcmp(p->why.text, why.text))
		log_warn("portal %s: waiting: %s", text, why.text);
	p->why = why;
	timer_arm(p->control, &p->retry, RETRY_US);
}

static void on_retry(struct timer *t)
{
	portal_try(container_of(t, struct portal, retry));
}

// --- transports ---

static void count_transports(struct portal *p, unsigned which, int change)
{
	unsigned offered = 0;
	for (unsigned i = 0; i < sizeof p->users_of / sizeof *p->users_of; i++) {
		if (which & 1u << i)
			p->users_of[i] += (unsigned)change;
		if (p->users_of[i])
			offered |= 1u << i;
	}
	__atomic_store_n(&p->transports, offered, __ATOMIC_RELAXED);
}

unsigned portal_transports(const struct portal *p)
{
	return __atomic_load_n(&p->transports, __ATOMIC_RELAXED);
}

unsigned portal_listening(const struct portal *p)
{
	unsigned ret = portal_transports(p);
	if (!__atomic_load_n(&p->has_socket, __ATOMIC_RELAXED))
		ret &= ~(unsigned)PORTAL_SOCKET;
	if (!portal_rdma_listens(&p->rdma))
		ret &= ~(unsigned)PORTAL_RDMA;
	return ret;
}

static void socket_close(struct portal *p)
{
	timer_cancel(p->control, &p->retry);
	__atomic_store_n(&p->has_socket, false, __ATOMIC_RELAXED);
	listener_free(p->listener);
	p->listener = NULL;
}

// Closes or opens the socket. Before it opens, siw's listener must release the port.
static void follow(struct portal *p)
{
	bool has_socket = p->listener || p->why.code;
	if (has_socket == !!(portal_transports(p) & PORTAL_SOCKET)) {
		rdma_follow(p);
		return;
	}
	portal_rdma_stop(&p->rdma);
	if (!has_socket) {
		portal_try(p);
		return;
	}
	socket_close(p);
	p->why = (struct err){ 0 };
	rdma_follow(p);
}

void portal_change(struct portal *p, unsigned from, unsigned to)
{
	count_transports(p, to, 1);
	count_transports(p, from, -1);
	follow(p);
}

int portal_open(struct portal **ret, const struct fabric_ops *fabric, struct worker *control,
		const struct tcp_addr *addr, unsigned transports, struct err *e)
{
	list_for_each (it, &portals) {
		struct portal *p = list_entry(it, struct portal, link);
		if (p->fabric != fabric || tcp_addr_compare(&p->addr, addr))
			continue;
		p->users++;
		count_transports(p, transports, 1);
		follow(p);
		*ret = p;
		return 0;
	}
	struct portal *p = calloc(1, sizeof *p);
	if (p)
		p->ended = calloc(worker_count() + 1, sizeof *p->ended);
	if (!p || !p->ended) {
		free(p);
		return err_set(e, -ENOMEM, "portal: out of memory");
	}
	p->fabric = fabric;
	p->addr = *addr;
	p->control = control;
	p->users = 1;
	p->refs = 1;
	count_transports(p, transports, 1);
	timer_init(&p->retry, on_retry);
	list_push_back(&portals, &p->link);
	follow(p);
	*ret = p;
	return 0;
}

void portal_close(struct portal *p, unsigned transports)
{
	if (!p)
		return;
	count_transports(p, transports, -1);
	if (--p->users) {
		follow(p);
		return;
	}
	socket_close(p);
	rdma_stop(p);
	list_remove(&p->link);
	portal_put(p);
}

enum portal_state portal_state(const struct portal *p)
{
	return *portal_reason(p) ? PORTAL_WAITING : PORTAL_LISTENING;
}

const char *portal_reason(const struct portal *p)
{
	if (portal_transports(p) & PORTAL_SOCKET)
		return p->listener ? "" : p->why.text;
	const char *reason = portal_rdma_reason(&p->rdma);
	return reason ? bare(p, reason) : "not started";
}

const char *portal_rdma_gone(const struct portal *p)
{
	const char *why = portal_rdma_lost(&p->rdma);
	return why && portal_state(p) == PORTAL_LISTENING ? bare(p, why) : NULL;
}

const struct tcp_addr *portal_addr(const struct portal *p)
{
	return &p->addr;
}

const struct fabric_ops *portal_fabric(const struct portal *p)
{
	return p->fabric;
}

void portal_counters(const struct portal *p, struct portal_counters *ret)
{
	const struct portal_counters *n = &p->counters;
	*ret = (struct portal_counters){
		.accepted = counter_get(&n->accepted),
		.refused = counter_get(&n->refused),
		.logins = counter_get(&n->logins),
		.connections = __atomic_load_n(&n->connections, __ATOMIC_RELAXED),
	};
	for (int i = 0; i < REFUSAL_CAUSES; i++)
		ret->login_failures[i] = counter_get(&n->login_failures[i]);
}
