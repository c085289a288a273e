// SPDX-License-Identifier: BSD-2-Clause
// Snapshots of the configuration: references, the current one, lookup.
#include "target/fabric/view.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/list.h"
#include "target/fabric/fabric.h"
#include "target/scsi/lun_map.h"

// Taken briefly by logins, discovery and publishing; never on the I/O path.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Ahead of each `own`.
struct own {
	size_t size;
	max_align_t data[];
};

void *view_own_new(size_t size)
{
	struct own *o = calloc(1, sizeof *o + size);
	if (!o)
		return NULL;
	o->size = size;
	return o->data;
}

// It may have secrets.
static void own_free(void *own)
{
	if (!own)
		return;
	struct own *o = container_of((max_align_t *)own, struct own, data[0]);
	explicit_bzero(own, o->size);
	free(o);
}

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
		own_free(tpg->acls[i].auth);
		own_free(tpg->acls[i].own);
		lun_map_put(tpg->acls[i].map);
	}
	own_free(tpg->auth);
	own_free(tpg->own);
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

struct view *view_new(const struct fabric_ops *fabric, unsigned target_count)
{
	struct view *v = calloc(1, sizeof *v + target_count * sizeof v->targets[0]);
	if (v) {
		v->refs = 1;
		v->fabric = fabric;
		v->target_count = target_count;
	}
	return v;
}

void view_put(struct view *v)
{
	if (!v || __atomic_sub_fetch(&v->refs, 1, __ATOMIC_ACQ_REL))
		return;
	for (unsigned i = 0; i < v->target_count; i++)
		view_target_put(v->targets[i]);
	own_free(v->discovery_auth);
	free(v);
}

struct view *view_current(const struct fabric_ops *fabric)
{
	pthread_mutex_lock(&lock);
	struct view *v = fabric->views->current;
	__atomic_add_fetch(&v->refs, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	return v;
}

static void add_attr(struct portal_attr *to, const struct view_portal *p)
{
	to->tos = to->tos ? to->tos : p->attr.tos;
	to->pkey = to->pkey ? to->pkey : p->attr.pkey;
}

struct portal_attr view_portal_attr(const struct view *v, const struct tcp_addr *addr)
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

void view_set(struct view *v)
{
	struct view_place *place = v->fabric->views;
	pthread_mutex_lock(&lock);
	struct view *old = place->current;
	v->generation = old ? old->generation + 1 : 1;
	place->current = v;
	pthread_mutex_unlock(&lock);
	view_put(old);
}

void view_retire(const struct fabric_ops *fabric)
{
	pthread_mutex_lock(&lock);
	struct view *old = fabric->views->current;
	fabric->views->current = NULL;
	pthread_mutex_unlock(&lock);
	view_put(old);
}

static int target_compare(const void *key, const void *item)
{
	const struct view_target *const *t = item;
	return strcmp(key, (*t)->name);
}

int view_target_index(const struct view *v, const char *name)
{
	struct view_target *const *t =
		bsearch(name, v->targets, v->target_count, sizeof v->targets[0], target_compare);
	return t ? (int)(t - v->targets) : -1;
}

const struct view_target *view_find_target(const struct view *v, const char *name)
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
