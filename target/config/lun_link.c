// SPDX-License-Identifier: BSD-2-Clause
// Connects LUNs that were read without their storage object when it appears. Control thread.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/config/model.h"

static void set_storage(struct config *c, struct lun *l, struct storage *s)
{
	lun_class.attached(c, &l->node, false);
	l->storage = s;
	lun_class.attached(c, &l->node, true);
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
	const struct node *tpg = &tpg_of(&l->node)->node;
	reply_say(r, "LUN %u of %s now uses it.", l->number,
		  tpg->class == &srpt_target_class ? tpg->name : tpg->parent->name);
	return 0;
}

static int link_in(struct config *c, const struct tpg *tpg, struct storage *s, struct reply *r,
		   struct err *e)
{
	int code = 0;
	list_for_each (i, &tpg->luns.children) {
		struct lun *l = NODE_OF(struct lun, list_entry(i, struct node, link));
		const char *path = json_text(l->node.kept, "storage_object");
		if (!code && !l->storage && path && storage_find(c, path) == s)
			code = link_lun(c, l, s, r, e);
	}
	return code;
}

int luns_find_storage(struct config *c, struct storage *s, struct reply *r, struct err *e)
{
	int code = 0;
	if (!c->broken_luns)
		return 0;
	list_for_each (i, &c->iscsi.children) {
		const struct node *target = list_entry(i, struct node, link);
		list_for_each (j, &target->children) {
			const struct node *tpg = list_entry(j, struct node, link);
			if (!code)
				code = link_in(c, NODE_OF(const struct tpg, tpg), s, r, e);
		}
	}
	list_for_each (i, &c->srpt.children) {
		const struct node *tpg = list_entry(i, struct node, link);
		if (!code)
			code = link_in(c, NODE_OF(const struct tpg, tpg), s, r, e);
	}
	return code;
}
