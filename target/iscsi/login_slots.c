// SPDX-License-Identifier: BSD-2-Clause
// The logins in progress of a worker, by the peer's address: selects the one to displace when all
// slots, or nearly all connections, are in use. A discovery session, open to all peers, keeps the
// slot of its login. The worker's thread.
//
// The address with the most logins loses one: the oldest of those without a complete Login Request,
// else the one with the oldest last request. A login with progress within LOGIN_GRACE_NS is
// displaced only by an address that would still have fewer, so that concurrent logins from one
// address do not displace each other.
#include <errno.h>
#include <stdlib.h>

#include "core/counter.h"
#include "target/fabric/peer_limits.h"
#include "target/iscsi/conn.h"
#include "target/iscsi/portal.h"

#define LOGIN_GRACE_NS	 250000000u
#define DISPLACED_BY_ONE 2

struct login_peer {
	struct list link; // iscsi_worker.login_peers
	struct tcp_addr addr;
	unsigned count;
	struct list silent, spoken; // connections, the first to displace at the end
};

static struct login_peer *peer_of(struct list *link)
{
	return list_entry(link, struct login_peer, link);
}

static struct login_peer *peer_find(struct iscsi_worker *iw, const struct tcp_addr *addr)
{
	list_for_each (it, &iw->login_peers)
		if (tcp_addr_same_ip(&peer_of(it)->addr, addr))
			return peer_of(it);
	return NULL;
}

static struct conn *first_of(struct list *l)
{
	struct list *first = list_first(l);
	return first ? list_entry(first, struct conn, login_link) : NULL;
}

static struct conn *candidate(struct login_peer *p)
{
	struct conn *c = first_of(&p->silent);
	return c ? c : first_of(&p->spoken);
}

// Which of two candidates is displaced if their addresses have equally many logins.
static bool goes_before(const struct conn *a, const struct conn *b)
{
	if (a->has_spoken != b->has_spoken)
		return b->has_spoken;
	return a->login_ns < b->login_ns;
}

static bool is_fresh(const struct iscsi_worker *iw, const struct conn *c)
{
	return worker_now(iw->worker) - c->login_ns < LOGIN_GRACE_NS;
}

// The login to displace by one from addr (NULL: any), or NULL.
static struct conn *victim_for(struct iscsi_worker *iw, const struct tcp_addr *addr)
{
	struct login_peer *most = NULL;
	unsigned own = 0;
	list_for_each (it, &iw->login_peers) {
		struct login_peer *p = peer_of(it);
		if (addr && tcp_addr_same_ip(&p->addr, addr))
			own = p->count;
		if (!most || p->count > most->count ||
		    (p->count == most->count && goes_before(candidate(p), candidate(most))))
			most = p;
	}
	struct conn *c = most ? candidate(most) : NULL;
	return c && c->has_spoken && is_fresh(iw, c) && most->count <= own + 1 ? NULL : c;
}

static void displace(struct iscsi_worker *iw, struct conn *victim)
{
	counter_add(&iw->counters.logins_displaced, 1);
	iw->displaced++;
	victim->is_displaced = true;
	conn_login_displaced(victim);
}

// Makes room for a login from addr: in the worker's table and, while logins can be displaced, in
// the number of connections, since more may arrive at once than a worker has taken over. -EBUSY.
static int make_room(struct iscsi_worker *iw, const struct tcp_addr *addr)
{
	struct peer_limits limits;
	peer_limits_get(&limits);
	bool is_full = iw->logins >= limits.logins_in_progress;
	for (int i = 0; i < DISPLACED_BY_ONE && (is_full || peers_are_crowded(iw->displaced));
	     i++) {
		struct conn *victim = victim_for(iw, addr);
		if (!victim)
			return is_full ? -EBUSY : 0;
		displace(iw, victim);
		is_full = false;
	}
	return 0;
}

void login_slots_tick(struct iscsi_worker *iw)
{
	while (peers_are_crowded(iw->displaced)) {
		struct conn *victim = victim_for(iw, NULL);
		if (!victim || is_fresh(iw, victim))
			return;
		displace(iw, victim);
	}
}

int login_slot_take(struct conn *c, const struct tcp_addr *addr, struct err *e)
{
	struct iscsi_worker *iw = iscsi_worker();
	if (make_room(iw, addr) < 0)
		return err_set(e, -EBUSY, "too many logins in progress");
	struct login_peer *p = peer_find(iw, addr);
	if (!p) {
		p = calloc(1, sizeof *p);
		if (!p)
			return err_set(e, -ENOMEM, "out of memory for a login");
		p->addr = *addr;
		list_init(&p->silent);
		list_init(&p->spoken);
		list_push_back(&iw->login_peers, &p->link);
	}
	p->count++;
	iw->logins++;
	c->login_peer = p;
	c->login_ns = worker_now(iw->worker);
	list_push_back(&p->silent, &c->login_link);
	return 0;
}

void login_slot_progress(struct conn *c)
{
	if (!c->login_peer)
		return;
	c->has_spoken = true;
	c->login_ns = worker_now(c->worker);
	list_remove(&c->login_link);
	list_push_back(&c->login_peer->spoken, &c->login_link);
}

void login_slot_leave(struct conn *c)
{
	struct login_peer *p = c->login_peer;
	if (!p)
		return;
	c->login_peer = NULL;
	list_remove(&c->login_link);
	iscsi_worker()->logins--;
	if (--p->count)
		return;
	list_remove(&p->link);
	free(p);
}
