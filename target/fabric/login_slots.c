// SPDX-License-Identifier: BSD-2-Clause
// The logins in progress of a worker, by the peer's address: selects the one to displace when all
// slots, or nearly all connections, are in use.
//
// The address with the most logins loses one: the oldest of those without a complete request, else
// the one with the oldest last request. A login with progress within LOGIN_GRACE_NS is displaced
// only by an address that would still have fewer, so that concurrent logins from one address do not
// displace each other.
#include "target/fabric/login_slots.h"

#include <errno.h>
#include <stdlib.h>

#include "target/fabric/fabric.h"
#include "target/fabric/peer_limits.h"
#include "target/fabric/session.h"

#define LOGIN_GRACE_NS	 250000000u
#define DISPLACED_BY_ONE 2

struct login_peer {
	struct list link; // login_worker.peers
	struct tcp_addr addr;
	unsigned count;
	struct list silent, spoken; // sessions, the first to displace at the end
};

static struct login_worker {
	unsigned logins;    // slots taken
	unsigned displaced; // displaced sessions whose connections have not ended yet
	struct list peers;
} login_workers[WORKER_MAX];

static struct login_worker *login_worker(const struct worker *w)
{
	return &login_workers[worker_index(w)];
}

void login_slots_init(void)
{
	for (unsigned i = 0; i < WORKER_MAX; i++)
		list_init(&login_workers[i].peers);
}

static struct login_peer *peer_of(struct list *link)
{
	return list_entry(link, struct login_peer, link);
}

static struct login_peer *peer_find(struct login_worker *lw, const struct tcp_addr *addr)
{
	list_for_each (it, &lw->peers)
		if (tcp_addr_same_ip(&peer_of(it)->addr, addr))
			return peer_of(it);
	return NULL;
}

static struct session *first_of(struct list *l)
{
	struct list *first = list_first(l);
	return first ? list_entry(first, struct session, slot.link) : NULL;
}

static struct session *candidate(struct login_peer *p)
{
	struct session *s = first_of(&p->silent);
	return s ? s : first_of(&p->spoken);
}

// Which of two candidates is displaced if their addresses have equally many logins.
static bool goes_before(const struct login_slot *a, const struct login_slot *b)
{
	if (a->has_spoken != b->has_spoken)
		return b->has_spoken;
	return a->since_ns < b->since_ns;
}

static bool is_fresh(const struct session *s)
{
	return worker_now(s->worker) - s->slot.since_ns < LOGIN_GRACE_NS;
}

// The login to displace by one from addr (NULL: any), or NULL.
static struct session *victim_for(struct login_worker *lw, const struct tcp_addr *addr)
{
	struct login_peer *most = NULL;
	unsigned own = 0;
	list_for_each (it, &lw->peers) {
		struct login_peer *p = peer_of(it);
		if (addr && tcp_addr_same_ip(&p->addr, addr))
			own = p->count;
		if (!most || p->count > most->count ||
		    (p->count == most->count &&
		     goes_before(&candidate(p)->slot, &candidate(most)->slot)))
			most = p;
	}
	struct session *s = most ? candidate(most) : NULL;
	return s && s->slot.has_spoken && is_fresh(s) && most->count <= own + 1 ? NULL : s;
}

static void displace(struct login_worker *lw, struct session *victim)
{
	lw->displaced++;
	victim->slot.is_displaced = true;
	victim->fabric->displace(victim);
}

// Makes room for a login from addr: in the worker's table and, while logins can be displaced, in
// the number of connections, since more may arrive at once than a worker has taken over. -EBUSY.
static int make_room(struct login_worker *lw, const struct tcp_addr *addr)
{
	struct peer_limits limits;
	peer_limits_get(&limits);
	bool is_full = lw->logins >= limits.logins_in_progress;
	for (int i = 0; i < DISPLACED_BY_ONE && (is_full || peers_are_crowded(lw->displaced));
	     i++) {
		struct session *victim = victim_for(lw, addr);
		if (!victim)
			return is_full ? -EBUSY : 0;
		displace(lw, victim);
		is_full = false;
	}
	return 0;
}

void login_slots_tick(struct worker *w)
{
	struct login_worker *lw = login_worker(w);
	while (peers_are_crowded(lw->displaced)) {
		struct session *victim = victim_for(lw, NULL);
		if (!victim || is_fresh(victim))
			return;
		displace(lw, victim);
	}
}

int login_slot_take(struct session *s, const struct tcp_addr *addr, struct err *e)
{
	struct login_worker *lw = login_worker(s->worker);
	if (make_room(lw, addr) < 0)
		return err_set(e, -EBUSY, "too many logins in progress");
	struct login_peer *p = peer_find(lw, addr);
	if (!p) {
		p = calloc(1, sizeof *p);
		if (!p)
			return err_set(e, -ENOMEM, "out of memory for a login");
		p->addr = *addr;
		list_init(&p->silent);
		list_init(&p->spoken);
		list_push_back(&lw->peers, &p->link);
	}
	p->count++;
	lw->logins++;
	s->slot.peer = p;
	s->slot.since_ns = worker_now(s->worker);
	list_push_back(&p->silent, &s->slot.link);
	return 0;
}

void login_slot_progress(struct session *s)
{
	struct login_slot *slot = &s->slot;
	if (!slot->peer)
		return;
	slot->has_spoken = true;
	slot->since_ns = worker_now(s->worker);
	list_remove(&slot->link);
	list_push_back(&slot->peer->spoken, &slot->link);
}

void login_slot_leave(struct session *s)
{
	struct login_peer *p = s->slot.peer;
	if (!p)
		return;
	s->slot.peer = NULL;
	list_remove(&s->slot.link);
	login_worker(s->worker)->logins--;
	if (--p->count)
		return;
	list_remove(&p->link);
	free(p);
}

void login_slot_done(struct session *s)
{
	login_worker(s->worker)->displaced -= s->slot.is_displaced;
	s->slot.is_displaced = false;
}
