// SPDX-License-Identifier: BSD-2-Clause
// Connects LUNs that were read without their storage object when it appears. Control thread.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/config/targets/lun.h"

static void set_storage(struct config *c, struct lun *l, struct storage *s)
{
	l->node.class->attached(c, &l->node, false);
	l->storage = s;
	l->node.class->attached(c, &l->node, true);
}

static void unlink_lun(struct config *c, struct node *n)
{
	set_storage(c, NODE_OF(struct lun, n), NULL);
}

static int link_lun(struct config *c, struct lun *l, struct storage *s, struct reply *r,
		    struct err *e)
{
	if (txn_kept(c, &l->node, true) < 0 || txn_call(c, &l->node, unlink_lun, NULL) < 0)
		return err_set(e, -ENOMEM, "%s: out of memory", l->node.name);
	set_storage(c, l, s);
	json_object_object_del(l->node.kept, "storage_object");
	tree_changed(c, &l->node);
	reply_say(r, "LUN %u of %s now uses it.", l->number, target_name(&l->node));
	return 0;
}

static bool is_link_to(struct config *c, const struct lun *l, const struct storage *s)
{
	const char *path = json_text(l->node.kept, "storage_object");
	return !l->storage && path && storage_find(c, path) == s;
}

int luns_find_storage(struct config *c, struct node *n, struct reply *r, struct err *e)
{
	struct storage *s = NODE_OF(struct storage, n);
	int code = 0;
	if (!c->targets->broken_luns || n->class != &storage_class)
		return 0;
	tpg_each (tpg, c)
		list_each (struct lun, l, &tpg->luns.children, node.link)
			if (!code && is_link_to(c, l, s))
				code = link_lun(c, l, s, r, e);
	return code;
}
