// SPDX-License-Identifier: BSD-2-Clause
// Where a node stands: its target and its portal group; walks over all of them.
#include "target/config/targets/targets.h"
#include "target/fabric/fabric.h"

const struct fabric_ops *node_fabric(const struct node *n)
{
	while (n && n->parent && n->parent->parent)
		n = n->parent;
	return n ? fabric_find(n->name) : NULL;
}

const char *target_name(const struct node *n)
{
	while (n && !n->class->is_target)
		n = n->parent;
	return n ? n->name : "";
}

struct tpg *tpg_of(const struct node *n)
{
	while (n && !n->class->is_group)
		n = n->parent;
	return n ? NODE_OF(struct tpg, n) : NULL;
}

struct fabric_access tpg_access(const struct tpg *tpg)
{
	struct fabric_access a;
	tpg->kind->fabric()->access(tpg->own, &a);
	return a;
}

static void groups_below(struct config *c, struct node *n,
			 void (*fn)(struct config *c, struct tpg *tpg, void *arg), void *arg)
{
	if (n->class->is_group) {
		fn(c, NODE_OF(struct tpg, n), arg);
		return;
	}
	list_for_each (i, &n->children)
		groups_below(c, list_entry(i, struct node, link), fn, arg);
}

void tpgs_each(struct config *c, void (*fn)(struct config *c, struct tpg *tpg, void *arg),
	       void *arg)
{
	groups_below(c, &c->targets->iscsi.node, fn, arg);
	groups_below(c, &c->targets->srpt.node, fn, arg);
}
