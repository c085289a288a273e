// SPDX-License-Identifier: BSD-2-Clause
// Builds the views of the fabrics from the tree.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/file/kept.h"
#include "target/config/targets/credentials.h"
#include "target/config/targets/lun.h"
#include "target/config/targets/publish.h"
#include "target/fabric/fabric.h"
#include "target/scsi/lu.h"
#include "target/scsi/lun_map.h"

static int by_number(const void *a, const void *b)
{
	const struct lun_entry *x = a, *y = b;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int by_initiator(const void *a, const void *b)
{
	const struct view_acl *x = a, *y = b;
	return strcmp(x->initiator, y->initiator);
}

static int by_target(const void *a, const void *b)
{
	const struct view_target *const *x = a, *const *y = b;
	return strcmp((*x)->name, (*y)->name);
}

// A LUN whose storage is waiting is not ready; it is missing only if nothing can stand in for it.
static void add_entry(struct config *c, struct lun_map *map, uint32_t number, const struct lun *l,
		      bool is_protected)
{
	if (!l || !l->storage || !storage_unit(l->storage) || number > LUN_MAX)
		return;
	map->entries[map->count++] = (struct lun_entry){
		.number = (uint16_t)number,
		.is_write_protected = is_protected || l->write_protect,
		.alua_group = alua_group_id(c, l),
		.lu = lu_get(storage_unit(l->storage)),
	};
}

// Of the mapped LUNs of an ACL, or of the LUNs of a portal group for initiators without one.
static struct lun_map *map_of(struct config *c, const struct node *n, bool is_read_only)
{
	struct lun_map *map = lun_map_new(n->child_count);
	if (!map)
		return NULL;
	map->count = 0;
	list_each (const struct node, child, &n->children, link) {
		const struct lun *l = NODE_OF(const struct lun, child);
		const struct mapped_lun *m = NODE_OF(const struct mapped_lun, child);
		if (child->class == &lun_class)
			add_entry(c, map, l->number, l, is_read_only);
		else
			add_entry(c, map, m->number, m->lun, m->is_write_protected || is_read_only);
	}
	qsort(map->entries, map->count, sizeof *map->entries, by_number);
	return map;
}

// With unreadable credentials no login succeeds. NULL: no memory.
static struct view_auth *auth_of(const struct auth_group *a, const char *whose)
{
	struct view_auth *v = view_own_new(sizeof *v);
	struct err e = { 0 };
	if (v && secret_fill(a, v, &e) < 0)
		log_warn("%s: %s; no login is possible", whose, e.text);
	return v;
}

static void *own_of(const void *own, size_t size)
{
	void *copy = view_own_new(size);
	return copy ? memcpy(copy, own, size) : NULL;
}

static int fill_acls(struct config *c, struct view_tpg *v, const struct tpg *tpg,
		     const struct fabric_access *access)
{
	v->acls = calloc(tpg->acls.child_count + 1, sizeof *v->acls);
	if (!v->acls)
		return -ENOMEM;
	list_each (const struct acl, a, &tpg->acls.children, node.link) {
		struct view_acl *va = &v->acls[v->acl_count++];
		va->initiator = strdup(a->node.name);
		memcpy(va->host, a->common.host, sizeof va->host);
		va->auth = auth_of(&a->auth, a->node.name);
		va->own = own_of(a->own, tpg->kind->fabric()->acl.size);
		va->map = map_of(c, &a->node, access->is_acl_read_only);
		if (!va->initiator || !va->auth || !va->own || !va->map)
			return -ENOMEM;
	}
	qsort(v->acls, v->acl_count, sizeof *v->acls, by_initiator);
	return 0;
}

static int fill_portals(struct view_tpg *v, const struct tpg *tpg)
{
	v->portals = calloc(tpg->portals.child_count + 1, sizeof *v->portals);
	if (!v->portals)
		return -ENOMEM;
	list_each (struct portal_node, p, &tpg->portals.children, node.link) {
		if (p->open)
			v->portals[v->portal_count++] =
				(struct view_portal){ .addr = *portal_addr(p->open),
						      .transports = p->transports,
						      .attr = p->attr,
						      .portal = portal_get(p->open) };
	}
	return 0;
}

static int fill_tpg(struct config *c, struct view_tpg *v, const struct tpg *tpg)
{
	const struct fabric_access access = tpg_access(tpg);
	v->tag = tpg->tag;
	v->relative_port = tpg->relative_port;
	v->is_enabled = tpg->is_enabled;
	v->is_open = access.is_open;
	v->auth = auth_of(&tpg->auth, target_name(&tpg->node));
	v->own = own_of(tpg->own, tpg->kind->fabric()->group.size);
	v->demo_map = map_of(c, &tpg->luns, access.is_open_read_only);
	int r = v->auth && v->own && v->demo_map ? fill_acls(c, v, tpg, &access) : -ENOMEM;
	return r ? r : fill_portals(v, tpg);
}

static int by_tag(const void *a, const void *b)
{
	const struct view_tpg *x = a, *y = b;
	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

int view_build(struct config *c, const struct published *p, struct view_target **ret, struct err *e)
{
	struct view_target *v = view_target_new(p->node->name, target_group_count(p->node));
	int r = v ? 0 : -ENOMEM;
	unsigned i = 0;
	target_each_group (tpg, p->node)
		if (!r)
			r = fill_tpg(c, &v->tpgs[i++], tpg);
	if (r < 0) {
		view_target_put(v);
		return err_set(e, r, "%s: out of memory", p->node->name);
	}
	if (v->tpg_count)
		qsort(v->tpgs, v->tpg_count, sizeof *v->tpgs, by_tag);
	*ret = v;
	return 0;
}

static int publish(const struct fabric_ops *fabric, const struct fabric_node *f, struct err *e)
{
	struct view *v = view_new(fabric, f->node.child_count);
	if (!v)
		return err_set(e, -ENOMEM, "%s: out of memory", fabric->name);
	v->target_count = 0;
	if (f->discovery.enable)
		v->discovery_auth = auth_of(&f->discovery, "discovery");
	if (f->discovery.enable && !v->discovery_auth) {
		view_put(v);
		return err_set(e, -ENOMEM, "%s: out of memory", fabric->name);
	}
	list_each (struct node, target, &f->node.children, link)
		v->targets[v->target_count++] = view_target_get(published_of(target)->view);
	qsort(v->targets, v->target_count, sizeof v->targets[0], by_target);
	view_publish(v);
	return 0;
}

int config_publish(struct config *c, struct err *e)
{
	const struct fabric_ops *fabric;
	int r = 0;
	for (unsigned i = 0; !r && (fabric = fabric_at(i)); i++) {
		struct node *n = node_child(&c->names, &c->root, fabric->name);
		if (n && n->class != &fabric_class) // a kept one
			r = publish(fabric, NODE_OF(const struct fabric_node, n), e);
	}
	return r;
}
