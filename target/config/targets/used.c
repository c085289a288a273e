// SPDX-License-Identifier: BSD-2-Clause
// LUNs that sessions use and a change would take from them or exchange. What is compared is not the
// commands but what sessions would see: any way to this effect is found. Control thread; visits the
// workers.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/config/targets/portal.h"
#include "target/config/targets/publish.h"
#include "target/config/targets/targets.h"
#include "target/config/tree/in_use.h"
#include "target/fabric/fabric.h"
#include "target/fabric/sessions.h"
#include "target/scsi/lun_map.h"

enum { USED_PATH = 600 };

// A change, and a session that it is compared with.
struct compared {
	struct config *c;
	const struct built *list;
	size_t count;
	const struct session_use *use;
	struct node *fabric, *target; // NULL: does not exist any more
};

static const struct view_tpg *tpg_of_view(const struct view_target *t, unsigned tag)
{
	for (unsigned i = 0; t && i < t->tpg_count; i++)
		if (t->tpgs[i].tag == tag)
			return &t->tpgs[i];
	return NULL;
}

// What the session sees at a portal group; NULL: its ACL is missing. That initiators without an ACL
// may not log in any more is a setting, and ends sessions as `disable` does.
static const struct lun_map *map_of_use(const struct view_tpg *tpg, const struct session_use *u)
{
	const struct view_acl *acl = view_find_acl(tpg, *u->acl ? u->acl : u->initiator);
	if (acl)
		return acl->map;
	return *u->acl ? NULL : tpg->demo_map;
}

// The view after the change; the one before if it does not concern the target.
static const struct view_target *view_after(const struct compared *k)
{
	struct published *p = k->target ? published_of(k->target) : NULL;
	for (size_t i = 0; p && i < k->count; i++)
		if (k->list[i].target == p)
			return k->list[i].view;
	return p ? p->view : NULL;
}

static size_t put_target(const struct compared *k, char *out, size_t size)
{
	const struct session_use *u = k->use;
	bool has_groups = k->fabric && k->fabric->class == &iscsi_class;
	int n = has_groups ? snprintf(out, size, "/%s/%s/tpg%u", u->fabric->name, u->target, u->tpg)
			   : snprintf(out, size, "/%s/%s", u->fabric->name, u->target);
	return (size_t)n < size ? (size_t)n : size - 1;
}

// Writes what the session loses to out; false: nothing.
static bool loses(const struct compared *k, char *out, size_t size)
{
	const struct session_use *u = k->use;
	const struct view_tpg *tpg = tpg_of_view(view_after(k), u->tpg);
	const struct lun_map *map = tpg ? map_of_use(tpg, u) : NULL;
	size_t used = put_target(k, out, size);
	struct view *v = view_current(u->fabric);
	const struct view_tpg *was = tpg_of_view(view_find_target(v, u->target), u->tpg);
	const struct lun_map *before = was ? map_of_use(was, u) : NULL;
	bool ret = before && !map;
	if (ret && tpg && *u->acl)
		snprintf(out + used, size - used, "/acls/%s", u->acl);
	for (uint32_t i = 0; before && map && !ret && i < u->count; i++) {
		const struct lun_entry *from = lun_map_find(before, u->luns[i]),
				       *to = lun_map_find(map, u->luns[i]);
		ret = from && (!to || to->lu != from->lu);
		if (ret && *u->acl)
			snprintf(out + used, size - used, "/acls/%s/mapped_lun%u", u->acl,
				 u->luns[i]);
		else if (ret)
			snprintf(out + used, size - used, "/luns/lun%u", u->luns[i]);
	}
	view_put(v);
	return ret;
}

// The portal that the session came by is removed, and none takes its place.
static bool loses_portal(const struct compared *k, char *out, size_t size)
{
	struct config *c = k->c;
	char tag[16];
	snprintf(tag, sizeof tag, "tpg%u", k->use->tpg);
	const struct node *tpg = !k->target || k->target->class->is_group
					 ? k->target
					 : node_child(&c->names, k->target, tag);
	for (size_t i = 0; tpg && i < c->txn.count; i++) {
		const struct txn_entry *entry = &c->txn.entries[i];
		const struct node *n = entry->node;
		if (entry->kind != TXN_REMOVED || n->class->is_used != portal_is_used ||
		    entry->parent->parent != tpg || node_child(&c->names, entry->parent, n->name) ||
		    !portal_serves(n->name, k->use))
			continue;
		size_t used = node_path(entry->parent, out, size);
		snprintf(out + used, size - used, "/%s", n->name);
		return true;
	}
	return false;
}

static bool is_hit(struct compared *k, const struct session_use *u, char out[USED_PATH])
{
	k->use = u;
	k->fabric = node_child(&k->c->names, &k->c->root, u->fabric->name);
	k->target = k->fabric ? node_child(&k->c->names, k->fabric, u->target) : NULL;
	return loses(k, out, USED_PATH) || loses_portal(k, out, USED_PATH);
}

int used_refuse(struct config *c, const struct built *list, size_t count, const char *fix,
		struct err *e)
{
	struct compared k = { .c = c, .list = list, .count = count };
	struct session_use *uses = NULL, *first = NULL;
	unsigned total = 0, users = 0;
	char path[USED_PATH], other[USED_PATH], more[40] = "";
	if (!count && !c->txn.has_removed)
		return 0;
	if (session_uses_list(false, &uses, &total) < 0)
		return err_set(e, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < total; i++) {
		if (!is_hit(&k, &uses[i], first ? other : path))
			continue;
		first = first ? first : &uses[i];
		users++;
	}
	if (users > 1)
		snprintf(more, sizeof more, " and %u more", users - 1);
	int r = !users ? 0
		       : err_set(e, -EBUSY, "%.300s: in use by %.100s from %s, session %llu%s (%s)",
				 path, first->initiator, first->peer, (unsigned long long)first->id,
				 more, fix);
	session_uses_free(uses, total);
	return r;
}
