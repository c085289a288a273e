// SPDX-License-Identifier: BSD-2-Clause
// Who is logged in through what somebody is about to delete. Control thread; visits the workers.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/model.h"
#include "target/iscsi/sessions.h"

// Where a session is in the tree. acl: NULL for an initiator that came in without one.
struct place {
	const struct target *target;
	const struct tpg *tpg;
	const struct acl *acl;
	const char *local;
};

static bool find_place(const struct config *c, const struct session_info *s, struct place *ret)
{
	char tag[16];
	snprintf(tag, sizeof tag, "tpg%u", s->tpg);
	struct node *t = node_child(&c->names, &c->iscsi, s->target);
	struct node *tpg = t ? node_child(&c->names, t, tag) : NULL;
	if (s->is_discovery || !tpg)
		return false;
	ret->target = NODE_OF(struct target, t);
	ret->tpg = NODE_OF(struct tpg, tpg);
	struct node *a = node_child(&c->names, &ret->tpg->acls, s->initiator);
	ret->acl = a ? NODE_OF(struct acl, a) : NULL;
	ret->local = s->local;
	return true;
}

static bool sees_lun(const struct place *p, const struct lun *l)
{
	if (l->node.parent != &p->tpg->luns)
		return false;
	list_for_each (i, &l->mapped)
		if (p->acl &&
		    list_entry(i, struct mapped_lun, lun_link)->node.parent == &p->acl->node)
			return true;
	return !p->acl; // all of them
}

static bool sees_storage(const struct place *p, const struct storage *s)
{
	list_for_each (i, &s->luns)
		if (sees_lun(p, list_entry(i, struct lun, storage_link)))
			return true;
	return false;
}

// A session came in by the address itself, or by the wildcard of its family and port.
static bool came_by(const struct place *p, const struct portal_node *portal)
{
	const char *name = portal->node.name, *any = *name == '[' ? "[::]:" : "0.0.0.0:";
	if (portal->node.parent != &p->tpg->portals)
		return false;
	if (!strncmp(name, any, strlen(any)))
		return (*p->local == '[') == (*name == '[') &&
		       !strcmp(strrchr(p->local, ':') ?: "", strrchr(name, ':'));
	return !strcmp(name, p->local);
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
		return p->acl && n->parent == &p->acl->node;
	if (n->class == &lun_class)
		return sees_lun(p, NODE_OF(const struct lun, n));
	if (n->class == &storage_class)
		return sees_storage(p, NODE_OF(const struct storage, n));
	if (n->class == &portal_class)
		return came_by(p, NODE_OF(const struct portal_node, n));
	return false;
}

int in_use_refuse(struct config *c, const struct node *n, const struct args *a, struct err *e)
{
	struct session_info *list = NULL, *first = NULL;
	unsigned count = 0, users = 0;
	if (arg_bool(a, "force", false))
		return 0;
	if (sessions_list(&list, &count) < 0)
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
	free(list);
	return r;
}
