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

// The node behind n in a walk over both fabrics, down to portal groups.
static const struct node *next_node(const struct config *c, const struct node *n)
{
	const struct node *iscsi = &c->targets->iscsi.node, *srpt = &c->targets->srpt.node;
	if (!n->class->is_group && !list_empty(&n->children))
		return list_entry(n->children.next, struct node, link);
	while (n != iscsi && n != srpt && n->link.next == &n->parent->children)
		n = n->parent;
	if (n == iscsi || n == srpt)
		return n == iscsi ? srpt : NULL;
	return list_entry(n->link.next, struct node, link);
}

struct tpg *tpg_next(const struct config *c, const struct tpg *after)
{
	const struct node *n = after ? &after->node : &c->targets->iscsi.node;
	do
		n = next_node(c, n);
	while (n && !n->class->is_group);
	return n ? NODE_OF(struct tpg, n) : NULL;
}
