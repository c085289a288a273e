// SPDX-License-Identifier: BSD-2-Clause
// Snapshots of the configuration: references, publishing, lookup.
#include "target/iscsi/view.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "target/iscsi/conn.h"
#include "target/iscsi/portal.h"

// Taken briefly by logins, discovery and publishing; never on the I/O path.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct iscsi_view *current;

struct view_target *view_target_new(const char *name, unsigned tpg_count)
{
	struct view_target *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	t->refs = 1;
	t->name = strdup(name);
	t->tpgs = calloc(tpg_count ? tpg_count : 1, sizeof *t->tpgs);
	t->tpg_count = tpg_count;
	if (t->name && t->tpgs)
		return t;
	view_target_put(t);
	return NULL;
}

struct view_target *view_target_get(struct view_target *t)
{
	__atomic_add_fetch(&t->refs, 1, __ATOMIC_RELAXED);
	return t;
}

static void tpg_done(struct view_tpg *tpg)
{
	for (unsigned i = 0; i < tpg->acl_count; i++) {
		free(tpg->acls[i].initiator);
		chap_wipe(&tpg->acls[i].auth, sizeof tpg->acls[i].auth);
		lun_map_put(tpg->acls[i].map);
	}
	chap_wipe(&tpg->auth, sizeof tpg->auth);
	for (unsigned i = 0; i < tpg->portal_count; i++)
		portal_put(tpg->portals[i].portal);
	free(tpg->acls);
	free(tpg->portals);
	lun_map_put(tpg->demo_map);
}

void view_target_put(struct view_target *t)
{
	if (!t || __atomic_sub_fetch(&t->refs, 1, __ATOMIC_ACQ_REL))
		return;
	for (unsigned i = 0; t->tpgs && i < t->tpg_count; i++)
		tpg_done(&t->tpgs[i]);
	free(t->tpgs);
	free(t->name);
	free(t);
}

struct iscsi_view *iscsi_view_new(unsigned target_count)
{
	struct iscsi_view *v = calloc(1, sizeof *v + target_count * sizeof v->targets[0]);
	if (v) {
		v->refs = 1;
		v->target_count = target_count;
	}
	return v;
}

void iscsi_view_put(struct iscsi_view *v)
{
	if (!v || __atomic_sub_fetch(&v->refs, 1, __ATOMIC_ACQ_REL))
		return;
	for (unsigned i = 0; i < v->target_count; i++)
		view_target_put(v->targets[i]);
	chap_wipe(&v->discovery_auth, sizeof v->discovery_auth);
	free(v);
}

struct iscsi_view *iscsi_view_current(void)
{
	pthread_mutex_lock(&lock);
	struct iscsi_view *v = current;
	__atomic_add_fetch(&v->refs, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	return v;
}

static void add_attr(struct portal_attr *to, const struct view_portal *p)
{
	to->tos = to->tos ? to->tos : p->attr.tos;
	to->pkey = to->pkey ? to->pkey : p->attr.pkey;
}

struct portal_attr view_portal_attr(const struct iscsi_view *v, const struct tcp_addr *addr)
{
	struct portal_attr ret = { 0 };
	for (unsigned i = 0; i < v->target_count; i++)
		for (unsigned g = 0; g < v->targets[i]->tpg_count; g++) {
			const struct view_tpg *tpg = &v->targets[i]->tpgs[g];
			for (unsigned p = 0; p < tpg->portal_count; p++)
				if (!tcp_addr_compare(&tpg->portals[p].addr, addr))
					add_attr(&ret, &tpg->portals[p]);
		}
	return ret;
}

// One per worker: apply the view that is current then.
struct follow_msg {
	struct msg msg;
};

static void follow_run(struct msg *m)
{
	struct iscsi_worker *iw = iscsi_worker();
	struct iscsi_view *v = iscsi_view_current();
	free(container_of(m, struct follow_msg, msg));
	list_for_each_safe (it, &iw->conns) {
		struct conn *c = list_entry(it, struct conn, link);
		conn_hold(c);
		if (c->state == CONN_FULL_FEATURE)
			conn_follow(c, v);
		it_next = it->next; // it may have changed meanwhile; c is held
		conn_release(c);
	}
	iscsi_view_put(v);
}

void iscsi_view_publish(struct iscsi_view *v)
{
	pthread_mutex_lock(&lock);
	struct iscsi_view *old = current;
	v->generation = old ? old->generation + 1 : 1;
	current = v;
	pthread_mutex_unlock(&lock);
	iscsi_view_put(old);
	for (unsigned i = 0; i < worker_count(); i++) {
		struct follow_msg *m = calloc(1, sizeof *m);
		if (!m)
			continue; // the next change or login applies it
		m->msg.fn = follow_run;
		worker_post(worker_at(i), &m->msg);
	}
}

void iscsi_view_retire(void)
{
	pthread_mutex_lock(&lock);
	struct iscsi_view *old = current;
	current = NULL;
	pthread_mutex_unlock(&lock);
	iscsi_view_put(old);
}

static int target_compare(const void *key, const void *item)
{
	const struct view_target *const *t = item;
	return strcmp(key, (*t)->name);
}

int view_target_index(const struct iscsi_view *v, const char *name)
{
	struct view_target *const *t =
		bsearch(name, v->targets, v->target_count, sizeof v->targets[0], target_compare);
	return t ? (int)(t - v->targets) : -1;
}

const struct view_target *view_find_target(const struct iscsi_view *v, const char *name)
{
	int at = view_target_index(v, name);
	return at < 0 ? NULL : v->targets[at];
}

static int acl_compare(const void *key, const void *item)
{
	return strcmp(key, ((const struct view_acl *)item)->initiator);
}

const struct view_acl *view_find_acl(const struct view_tpg *tpg, const char *initiator)
{
	return tpg->acl_count ? bsearch(initiator, tpg->acls, tpg->acl_count, sizeof tpg->acls[0],
					acl_compare)
			      : NULL;
}
