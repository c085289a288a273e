// SPDX-License-Identifier: BSD-2-Clause
// A removal visits the workers one after the other with a message: first to look whether each nexus
// may be removed, then to end the sessions and to stay with each of them until its nexus is freed.
// Between visits it belongs to the worker that began it. Nothing blocks and there is no lock.
//
// A nexus has one session at a time, and that is in the registry as long as the nexus exists: also
// while its connection is closed and its last command is still in the storage.
#include "target/fabric/removal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/fabric/fabric.h"

#define REMOVALS_MAX 4 // of a session, at a time

struct removal_wait {	  // of one name, with its session
	struct list link; // in session.removals; its worker
	struct msg msg;
	struct nexus_removal *removal;
};

struct nexus_removal {
	struct worker *home;
	void (*done)(void *arg, int bad); // NULL: cancelled
	void *arg;
	// The session that asks, which may be over when others are visited.
	struct session *by; // at home, until done
	uint64_t by_id;
	const struct fabric_ops *fabric;
	bool has_acl, is_authenticated;
	char initiator[FABRIC_NAME_SIZE], acl[FABRIC_NAME_SIZE], host[FABRIC_HOST_SIZE];

	struct msg msg; // of a visit
	bool is_visiting;
	unsigned at; // the worker to visit
	void (*visit)(struct nexus_removal *r);
	void (*visited)(struct nexus_removal *r); // at home, after the last
	int bad;				  // the first name that may not be removed, or -1
	unsigned begun;				  // waits; visits count them
	unsigned ended;				  // of these; home counts them
	unsigned count;
	struct nexus_name names[NEXUS_REMOVALS_MAX];
	struct removal_wait waits[NEXUS_REMOVALS_MAX];
};

// ---- visits ----

static void visit_run(struct msg *m)
{
	struct nexus_removal *r = container_of(m, struct nexus_removal, msg);
	if (r->at == worker_count()) {
		r->is_visiting = false;
		r->visited(r); // may free r
		return;
	}
	r->visit(r);
	r->at++;
	worker_post(r->at < worker_count() ? worker_at(r->at) : r->home, m);
}

static void visit_all(struct nexus_removal *r, void (*visit)(struct nexus_removal *r),
		      void (*visited)(struct nexus_removal *r))
{
	r->visit = visit;
	r->visited = visited;
	r->at = 0;
	r->is_visiting = true;
	r->msg.fn = visit_run;
	worker_post(worker_at(0), &r->msg);
}

// The first name from index i on that s has, or r->count.
static unsigned name_of(const struct nexus_removal *r, const struct session *s, unsigned i)
{
	const struct nexus_info *n = s->nexus ? &s->nexus->info : NULL;
	for (; n && i < r->count; i++) {
		const struct nexus_name *name = &r->names[i];
		if (name->relative_port == n->relative_port &&
		    name->transport_id_len == n->transport_id_len &&
		    !memcmp(name->transport_id, n->transport_id, n->transport_id_len))
			return i;
	}
	return r->count;
}

// ---- who may remove whom ----

// As the administrator says, of any fabric and however sure each name is. Demo mode has no host.
static bool is_same_host(const struct nexus_removal *r, const struct session *s)
{
	return *r->host && s->acl && !strcmp(s->acl->host, r->host);
}

// As far as the target itself knows: admitted by ACLs of the same name, or with names of one
// initiator of which the asking one is as sure. A name that was only claimed removes no session
// whose name was proven by a secret, or admitted by an ACL for it.
static bool is_same_initiator(const struct nexus_removal *r, const struct session *s)
{
	const char *acl = s->acl ? s->acl->initiator : NULL;
	if (s->fabric != r->fabric || (s->is_authenticated && !r->is_authenticated))
		return false;
	if (acl && r->has_acl && !strcmp(acl, r->acl))
		return true;
	if (!s->fabric->is_same_initiator(r->initiator, s->initiator))
		return false;
	return !acl || (r->has_acl && s->fabric->is_same_initiator(r->acl, s->initiator));
}

static bool may_remove(const struct nexus_removal *r, const struct session *s)
{
	return s->id != r->by_id && (is_same_host(r, s) || is_same_initiator(r, s));
}

static void refuse(struct nexus_removal *r, unsigned i)
{
	if (r->bad < 0 || i < (unsigned)r->bad)
		r->bad = (int)i;
}

static void look(struct nexus_removal *r)
{
	list_for_each (it, sessions_here()) {
		const struct session *s = session_of(it);
		unsigned i = name_of(r, s, 0);
		if (i < r->count && !may_remove(r, s))
			refuse(r, i);
	}
}

// ---- the end of sessions ----

static bool is_over(const struct nexus_removal *r)
{
	return !r->is_visiting && r->begun == r->ended;
}

static void end(struct nexus_removal *r)
{
	if (r->done) {
		r->by->removals_begun--;
		r->done(r->arg, r->bad);
	}
	free(r);
}

static void end_if_over(struct nexus_removal *r)
{
	if (is_over(r))
		end(r);
}

static void wait_ended(struct msg *m)
{
	struct nexus_removal *r = container_of(m, struct removal_wait, msg)->removal;
	r->ended++;
	end_if_over(r);
}

static void wait_end(struct removal_wait *w)
{
	list_remove(&w->link);
	worker_post(w->removal->home, &w->msg);
}

void removal_nexus_ended(struct session *s)
{
	for (struct list *it; (it = list_first(&s->removals));)
		wait_end(list_entry(it, struct removal_wait, link));
}

static void stay_with(struct nexus_removal *r, struct session *s, struct removal_wait *w)
{
	w->removal = r;
	w->msg.fn = wait_ended;
	list_push_back(&s->removals, &w->link);
	r->begun++;
}

// Since it was looked at another session of a nexus may have come, or the administrator said that
// it is another one's: then it stays, and the answer says so, whatever becomes of the others.
static void drop(struct nexus_removal *r)
{
	list_for_each_safe (it, sessions_here()) {
		struct session *s = session_of(it);
		unsigned i = name_of(r, s, 0);
		if (i == r->count)
			continue;
		if (!may_remove(r, s)) {
			refuse(r, i);
			continue;
		}
		// A name that was given twice, or a nexus that ended and came back: one wait each.
		while (i < r->count && r->waits[i].removal)
			i = name_of(r, s, i + 1);
		if (i < r->count)
			stay_with(r, s, &r->waits[i]);
		s->fabric->cut(s, "its nexus was removed by another one of the initiator");
	}
}

static void leave(struct nexus_removal *r)
{
	list_for_each (it, sessions_here()) {
		list_for_each_safe (at, &session_of(it)->removals) {
			struct removal_wait *w = list_entry(at, struct removal_wait, link);
			if (w->removal == r)
				wait_end(w);
		}
	}
}

// What was cancelled waits for nobody: the nexuses may be removing each other.
static void dropped(struct nexus_removal *r)
{
	if (!r->done && r->begun != r->ended)
		visit_all(r, leave, end_if_over);
	else
		end_if_over(r);
}

static void looked(struct nexus_removal *r)
{
	if (r->done && r->bad < 0)
		visit_all(r, drop, dropped);
	else
		end(r);
}

void removal_cancel(struct nexus_removal *r)
{
	r->by->removals_begun--;
	r->done = NULL;
	r->by = NULL;
	if (!r->is_visiting)
		visit_all(r, leave, end_if_over);
}

// ---- the begin ----

struct nexus_removal *removal_begin(struct session *by, const struct nexus_name *names,
				    unsigned count, void (*done)(void *arg, int bad), void *arg)
{
	struct nexus_removal *r = NULL;
	if (by->removals_begun < REMOVALS_MAX && count <= NEXUS_REMOVALS_MAX)
		r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	by->removals_begun++;
	r->home = worker_self();
	r->done = done;
	r->arg = arg;
	r->by = by;
	r->by_id = by->id;
	r->fabric = by->fabric;
	r->is_authenticated = by->is_authenticated;
	r->has_acl = by->acl;
	snprintf(r->initiator, sizeof r->initiator, "%s", by->initiator);
	snprintf(r->acl, sizeof r->acl, "%s", by->acl ? by->acl->initiator : "");
	snprintf(r->host, sizeof r->host, "%s", by->acl ? by->acl->host : "");
	r->bad = -1;
	r->count = count;
	memcpy(r->names, names, count * sizeof *names);
	visit_all(r, look, looked);
	return r;
}
