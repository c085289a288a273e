// SPDX-License-Identifier: BSD-2-Clause
// Sessions that use an object to be deleted or changed. Control thread; visits the workers.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/config/tree/in_use.h"
#include "target/fabric/fabric.h"
#include "target/fabric/sessions.h"

bool place_uses(const struct session_place *p, uint32_t number)
{
	for (uint32_t i = 0; i < p->use->count; i++)
		if (p->use->luns[i] == number)
			return true;
	return false;
}

bool place_is(const struct node *n, const struct session_place *p)
{
	return n == p->target || n == p->tpg || n == p->acl;
}

// The nodes of a session. acl: NULL for an initiator without an ACL.
static bool find_place(struct config *c, const struct session_use *u, struct session_place *ret)
{
	char tag[16];
	snprintf(tag, sizeof tag, "tpg%u", u->tpg);
	struct node *fabric = node_child(&c->names, &c->root, u->fabric->name);
	struct node *t = fabric ? node_child(&c->names, fabric, u->target) : NULL;
	struct node *tpg = t && t->class->is_group ? t : t ? node_child(&c->names, t, tag) : NULL;
	if (!tpg)
		return false;
	ret->use = u;
	struct node *acls = node_child(&c->names, tpg, "acls");
	ret->target = t;
	ret->tpg = tpg;
	ret->acl = acls ? node_child(&c->names, acls, u->acl) : NULL;
	return true;
}

static int refuse(struct config *c, const struct node *n, bool is_seen, const struct args *a,
		  struct err *e)
{
	struct session_use *list = NULL, *first = NULL;
	unsigned count = 0, users = 0;
	if (arg_bool(a, "force", false)) {
		c->txn.is_forced = true;
		return 0;
	}
	if (!n->class->is_used)
		return 0;
	if (session_uses_list(is_seen, &list, &count) < 0)
		return err_set(e, -ENOMEM, "%s: out of memory", n->name);
	for (unsigned i = 0; i < count; i++) {
		struct session_place p;
		if (!find_place(c, &list[i], &p) || !n->class->is_used(n, &p))
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

int in_use_refuse(struct config *c, const struct node *n, const struct args *a, struct err *e)
{
	return refuse(c, n, false, a, e);
}

int seen_refuse(struct config *c, const struct node *n, const struct args *a, struct err *e)
{
	return refuse(c, n, true, a, e);
}

int delete_unused(struct config *c, struct node *n, const struct args *a, struct err *e)
{
	int r = in_use_refuse(c, n, a, e);
	return r ? r : tree_remove(c, n, e);
}

// The text with name in place of its %s.
static const char *with_name(const char *text, const char *name, char out[400])
{
	const char *at = strstr(text, "%s");
	snprintf(out, 400, "%.*s%s%s", (int)(at - text), text, name, at + 2);
	return out;
}

int delete_child(struct config *c, struct node *n, const struct args *a, struct reply *r,
		 struct err *e)
{
	const struct child_names *k = &n->class->child;
	const char *shown = a->value[0];
	char normal[CHILD_NAME_SIZE], name[CHILD_NAME_SIZE + 16], text[400];
	if (k->normal) {
		int code = k->normal(n, a, normal, e);
		if (code < 0)
			return code;
		shown = normal;
	}
	snprintf(name, sizeof name, "%s%s", k->prefix ? k->prefix : "", shown);
	struct node *child = node_child(&c->names, n, name);
	if (!child)
		return err_set(e, -ENOENT, "%s", with_name(k->missing, shown, text));
	reply_say(r, "%s", with_name(k->deleted, shown, text));
	return delete_unused(c, child, a, e);
}
