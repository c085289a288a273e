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

struct link {
	struct storage *storage;
	struct reply *reply;
	struct err *e;
	int code;
};

static void link_in(struct config *c, struct tpg *tpg, void *arg)
{
	struct link *x = arg;
	list_each (struct lun, l, &tpg->luns.children, node.link) {
		const char *path = json_text(l->node.kept, "storage_object");
		if (!x->code && !l->storage && path && storage_find(c, path) == x->storage)
			x->code = link_lun(c, l, x->storage, x->reply, x->e);
	}
}

int luns_find_storage(struct config *c, struct node *n, struct reply *r, struct err *e)
{
	struct link x = { NODE_OF(struct storage, n), r, e, 0 };
	if (c->targets->broken_luns && n->class == &storage_class)
		tpgs_each(c, link_in, &x);
	return x.code;
}
