// SPDX-License-Identifier: BSD-2-Clause
// Targets as the end of a change sees them, whether a portal group is a node below its target or
// the same node. Control thread.
#include "target/config/targets/targets.h"

void published_init(struct published *p, struct node *target)
{
	p->node = target;
	list_init(&p->dirty_link);
}

void published_changed(struct config *c, struct published *p)
{
	if (p->is_dirty)
		return;
	p->is_dirty = true;
	list_push_back(&c->targets->dirty, &p->dirty_link);
}

void published_done(struct published *p)
{
	list_remove(&p->dirty_link);
	view_target_put(p->view);
}

struct published *published_of(struct node *target)
{
	return target->class->is_group ? &NODE_OF(struct tpg, target)->published
				       : &NODE_OF(struct target, target)->published;
}

struct tpg *target_next_group(const struct node *target, const struct tpg *after)
{
	if (target->class->is_group)
		return after ? NULL : NODE_OF(struct tpg, (struct node *)target);
	const struct list *next = after ? after->node.link.next : target->children.next;
	return next == &target->children ? NULL
					 : NODE_OF(struct tpg, list_entry(next, struct node, link));
}

unsigned target_group_count(const struct node *target)
{
	return target->class->is_group ? 1 : target->child_count;
}
