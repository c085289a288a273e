// SPDX-License-Identifier: BSD-2-Clause
// The end of a change. The order ensures that a failure changes neither the running target, the
// tree nor the saved file: build the snapshots, save the file, then publish.
#include <errno.h>
#include <stdlib.h>

#include "target/config/change/commit.h"
#include "target/config/file/saved_file.h"
#include "target/config/targets/lun.h"
#include "target/config/targets/portal.h"
#include "target/config/targets/publish.h"

static void clean_dirty(struct config *c)
{
	while (!list_empty(&c->targets->dirty)) {
		struct list *l = list_pop_front(&c->targets->dirty);
		list_entry(l, struct published, dirty_link)->is_dirty = false;
	}
	c->targets->is_view_dirty = false;
}

// Targets removed in this change need no view.
static int build_all(struct config *c, struct built **ret, size_t *ret_count, struct err *e)
{
	size_t n = 0, count = 0;
	list_for_each (i, &c->targets->dirty)
		n++;
	struct built *list = calloc(n + 1, sizeof *list);
	int r = list ? 0 : err_set(e, -ENOMEM, "configuration: out of memory");
	list_each (struct published, t, &c->targets->dirty, dirty_link) {
		if (r || !t->node->parent)
			continue;
		list[count].target = t;
		r = view_build(c, t, &list[count].view, e);
		count += !r;
	}
	*ret = list;
	*ret_count = count;
	return r;
}

static void forget(struct built *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		view_target_put(list[i].view);
	free(list);
}

int change_refuse_used(struct config *c, struct err *e)
{
	struct built *list;
	size_t count;
	if (c->txn.is_forced)
		return 0;
	int r = build_all(c, &list, &count, e);
	r = r ? r : used_refuse(c, list, count, "let it log out, or force=true", e);
	forget(list, count);
	return r;
}

static void show_portals(const struct node *target)
{
	target_each_group (tpg, target)
		list_each (struct portal_node, p, &tpg->portals.children, node.link)
			portal_follow(p);
}

static void show(struct config *c, struct built *list, size_t count)
{
	struct err e;
	for (size_t i = 0; i < count; i++) {
		view_target_put(list[i].target->view);
		list[i].target->view = list[i].view;
		show_portals(list[i].target->node);
		alua_sync_ports(c, list[i].target->node);
	}
	if ((count || c->targets->is_view_dirty) && config_publish(c, &e) < 0)
		log_error("%s: the change takes effect with the next change", e.text);
}

int config_commit(struct config *c, bool saves, struct err *e)
{
	struct built *list;
	size_t count;
	if (c->is_shutting_down) {
		clean_dirty(c);
		txn_commit(c);
		return 0;
	}
	int r = build_all(c, &list, &count, e);
	if (!r && saves && !c->txn.is_forced)
		r = used_refuse(c, list, count, "let it log out", e);
	if (!r && saves)
		r = config_save(c, c->txn.has_removed, e);
	if (!r) {
		show(c, list, count);
		clean_dirty(c);
		txn_commit(c);
		count = 0; // they are published
	}
	forget(list, count);
	return r;
}

void together_open(struct config *c)
{
	c->change->together.mark = txn_mark(c);
	c->change->together.has_changes = false;
	c->change->together.is_open = true;
}

// The command is one of several. Its changes are undone; a target that it marked dirty is rebuilt
// unnecessarily.
static int finish_one(struct config *c, int code)
{
	if (code < 0) {
		txn_undo_to(c, c->change->together.mark);
	} else {
		c->change->together.mark = txn_mark(c);
		c->change->together.has_changes = true;
	}
	return code;
}

int config_finish(struct config *c, int code, struct err *e)
{
	if (code == -ENOMEM && e && !e->code)
		err_set(e, code, "out of memory");
	if (c->change->together.is_open)
		return finish_one(c, code);
	if (!code)
		code = config_commit(c, true, e);
	if (code < 0) {
		txn_undo(c);
		// Objects that opened by themselves still wait for the next view.
		clean_dirty(c);
	}
	return code;
}
