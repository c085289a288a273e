// SPDX-License-Identifier: BSD-2-Clause
// Sessions that use an object to be deleted. Control thread; visits the workers.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/model.h"
#include "target/fabric/fabric.h"
#include "target/fabric/sessions.h"

// The nodes of a session. acl: NULL for an initiator without an ACL.
struct place {
	const struct session_use *use;
	const struct target *target;
	const struct tpg *tpg;
	const struct acl *acl;
};

static bool find_place(struct config *c, const struct session_use *u, struct place *ret)
{
	char tag[16];
	snprintf(tag, sizeof tag, "tpg%u", u->tpg);
	struct node *fabric = node_child(&c->names, &c->root, u->fabric->name);
	struct node *t = fabric ? node_child(&c->names, fabric, u->target) : NULL;
	struct node *tpg = t ? node_child(&c->names, t, tag) : NULL;
	if (!tpg)
		return false;
	ret->use = u;
	ret->target = NODE_OF(struct target, t);
	ret->tpg = NODE_OF(struct tpg, tpg);
	struct node *a = node_child(&c->names, &ret->tpg->acls, u->acl);
	ret->acl = a ? NODE_OF(struct acl, a) : NULL;
	return true;
}

static bool uses_number(const struct place *p, uint32_t number)
{
	for (uint32_t i = 0; i < p->use->count; i++)
		if (p->use->luns[i] == number)
			return true;
	return false;
}

// An initiator with an ACL sees a LUN under the numbers of its mapped LUNs.
static bool uses_lun(const struct place *p, const struct lun *l)
{
	if (l->node.parent != &p->tpg->luns)
		return false;
	if (!p->acl)
		return uses_number(p, l->number);
	list_for_each (i, &l->mapped) {
		const struct mapped_lun *m = list_entry(i, struct mapped_lun, lun_link);
		if (m->node.parent == &p->acl->node && uses_number(p, m->number))
			return true;
	}
	return false;
}

static bool uses_storage(const struct place *p, const struct storage *s)
{
	list_for_each (i, &s->luns)
		if (uses_lun(p, list_entry(i, struct lun, storage_link)))
			return true;
	return false;
}

// A session arrived at the address itself, or at the wildcard of its family and port.
static bool came_by(const struct place *p, const struct portal_node *portal)
{
	const char *name = portal->node.name, *any = *name == '[' ? "[::]:" : "0.0.0.0:";
	if (portal->node.parent != &p->tpg->portals)
		return false;
	if (!strncmp(name, any, strlen(any)))
		return (*p->use->local == '[') == (*name == '[') &&
		       !strcmp(strrchr(p->use->local, ':') ?: "", strrchr(name, ':'));
	return !strcmp(name, p->use->local);
}

static bool concerns(const struct node *n, const struct place *p)
{
	if (n->class == &target_class)
		return n == &p->target->node;
	if (n->class == &tpg_class)
		return n == &p->tpg->node;
	if (n->class == &acl_class)
		return p->acl && n == &p->acl->node;
	if (n->class == &mapped_lun_class)
		return p->acl && n->parent == &p->acl->node &&
		       uses_number(p, NODE_OF(const struct mapped_lun, n)->number);
	if (n->class == &lun_class)
		return uses_lun(p, NODE_OF(const struct lun, n));
	if (n->class == &storage_class)
		return uses_storage(p, NODE_OF(const struct storage, n));
	if (n->class == &portal_class)
		return came_by(p, NODE_OF(const struct portal_node, n));
	return false;
}

int in_use_refuse(struct config *c, const struct node *n, const struct args *a, struct err *e)
{
	struct session_use *list = NULL, *first = NULL;
	unsigned count = 0, users = 0;
	if (arg_bool(a, "force", false))
		return 0;
	if (session_uses_list(&list, &count) < 0)
		return err_set(e, -ENOMEM, "%s: out of memory", n->name);
	for (unsigned i = 0; i < count; i++) {
		struct place p;
		if (!find_place(c, &list[i], &p) || !concerns(n, &p))
			continue;
		users++;
		first = first ? first : &list[i];
	}
	int r = 0;
	if (users) {
		char more[40] = "";
		if (users > 1)
			snprintf(more, sizeof more, " and %u more", users - 1);
		r = err_set(e, -EBUSY,
			    "%s: in use by %s from %s, session %llu%s (let it log out, or "
			    "force=true)",
			    n->name, first->initiator, first->peer, (unsigned long long)first->id,
			    more);
	}
	session_uses_free(list, count);
	return r;
}
