// SPDX-License-Identifier: BSD-2-Clause
// Applies a document to an existing tree: equal objects remain, with their sessions; different
// settings are changed; objects not in the document are removed. Control thread.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/restore.h"

void restore_named(struct restore *r, struct node *n, bool is_old)
{
	if (!r->options->is_apply)
		return;
	n->is_named = true;
	if (is_old && txn_kept(r->c, n, false) < 0)
		restore_complain(r, "%s: out of memory", n->name);
}

int restore_sweep(struct restore *r, struct node *n, struct err *e)
{
	int code = 0;
	if (!r->options->is_apply)
		return 0;
	list_for_each_safe (i, &n->children) {
		struct node *child = list_entry(i, struct node, link);
		bool is_named = child->is_named;
		child->is_named = false;
		if (!code && !is_named)
			code = model_remove(r->c, child, e);
	}
	return code;
}

// Only a file saved by farblock contains all values that differ from the defaults.
static void set_defaults(const struct group_row *g, struct node *n)
{
	for (const struct attr_row *row = group_rows(g); row->name; row++)
		if (!(row->flags & ATTR_READONLY) && !(g->set && row->flags & ATTR_IGNORED))
			group_set(g, n, row, row->default_text ? row->default_text : "", NULL);
}

void *restore_refill(struct restore *r, const struct group_row *g, struct node *n)
{
	if (!r->options->is_apply)
		return NULL;
	char *before = malloc(g->offset + g->size);
	if (!before || txn_memory(r->c, (char *)g->base(n) + g->offset, g->size) < 0) {
		restore_complain(r, "%s: out of memory", n->name);
		free(before);
		return NULL;
	}
	memcpy(before, g->base(n), g->offset + g->size);
	if (r->is_exact)
		set_defaults(g, n);
	return before;
}

// A value that the running object refuses is not changed.
static void apply_row(struct restore *r, const struct group_row *g, struct node *n,
		      const struct attr_row *row, void *before, bool *ret_reopens)
{
	char old[1024], text[1024];
	struct err e = { 0 };
	attr_get(row, before, old, sizeof old);
	attr_get(row, g->base(n), text, sizeof text);
	if (!strcmp(old, text))
		return;
	if (g->apply(r->c, n, row, text, &e) < 0) {
		restore_complain(r, "%s: %s", n->name, e.text);
		attr_set(row, g->base(n), old, NULL);
		return;
	}
	if (txn_applied(r->c, n, g, row, old) < 0)
		restore_complain(r, "%s: out of memory", n->name);
	*ret_reopens |= n->class == &storage_class && NODE_OF(struct storage, n)->lu &&
			row->flags & ATTR_RESTART && !(row->flags & ATTR_IGNORED);
}

void restore_refill_end(struct restore *r, const struct group_row *g, struct node *n, void *before)
{
	struct err e = { 0 };
	bool reopens = false;
	if (!before)
		return;
	char *now = (char *)g->base(n) + g->offset, *then = (char *)before + g->offset;
	if (g->check && g->check(r->c, n, &e) < 0) {
		restore_complain(r, "%s: %s", n->name, e.text);
		memcpy(now, then, g->size);
	}
	for (const struct attr_row *row = group_rows(g);
	     row->name && g->apply && !r->options->is_dry; row++)
		if (!(row->flags & ATTR_READONLY))
			apply_row(r, g, n, row, before, &reopens);
	if (memcmp(now, then, g->size))
		model_dirty(r->c, n);
	if (reopens && txn_reopen(r->c, n) < 0)
		restore_complain(r, "%s: out of memory", n->name);
	explicit_bzero(before, g->offset + g->size);
	free(before);
}

int restore_meet_foreign(struct restore *r, struct node *parent, const char *name,
			 struct json_object *o, struct err *e)
{
	struct node *there = node_child(&r->c->names, parent, name);
	if (!there || !r->options->is_apply)
		return 0;
	if (!json_object_equal(there->kept, o))
		return model_remove(r->c, there, e);
	there->is_named = true;
	return 1;
}

int restore_add_foreign(struct restore *r, struct node *parent, const struct node_class *class,
			const char *name, struct json_object *o, struct err *e)
{
	int code = foreign_new(r->c, parent, class, name, o, e);
	struct node *n = code ? NULL : node_child(&r->c->names, parent, name);
	if (n)
		n->is_named = r->options->is_apply;
	return code;
}
