// SPDX-License-Identifier: BSD-2-Clause
// Changes of the tree, within the transaction.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "target/config/tree/tree.h"

struct config_work config_work;

void tree_changed(struct config *c, struct node *n)
{
	while (n && !n->class->changed)
		n = n->parent;
	if (n)
		n->class->changed(c, n);
}

int tree_remove_children(struct config *c, struct node *n, struct err *e)
{
	int r = 0;
	while (!r && !list_empty(&n->children))
		r = tree_remove(c, list_entry(n->children.next, struct node, link), e);
	return r;
}

int tree_remove(struct config *c, struct node *n, struct err *e)
{
	int r = tree_remove_children(c, n, e);
	if (!r && n->class->remove_users)
		r = n->class->remove_users(c, n, e);
	if (r < 0)
		return r;
	tree_changed(c, n);
	return txn_detach(c, n) < 0 ? err_set(e, -ENOMEM, "%s: out of memory", n->name) : 0;
}

void *tree_new(size_t size, const struct node_class *class, const char *name, struct err *e)
{
	struct node *n = calloc(1, size);
	if (n && !node_init(n, class, name))
		return n;
	free(n);
	err_set(e, -ENOMEM, "%s: out of memory", name);
	return NULL;
}

int tree_add(struct config *c, struct node *parent, struct node *n, struct err *e,
	     const char *taken, ...)
{
	char text[300];
	va_list ap;
	int r = txn_attach(c, parent, n);
	if (!r) {
		tree_changed(c, n);
		return 0;
	}
	va_start(ap, taken);
	vsnprintf(text, sizeof text, taken, ap);
	va_end(ap);
	r = r == -EEXIST ? err_set(e, r, "%s", text)
			 : err_set(e, -ENOMEM, "%s: out of memory", n->name);
	n->class->free(c, n);
	return r;
}

struct node *config_node(struct config *c, const char *path)
{
	return *path == '/' ? node_at(&c->names, &c->root, path) : NULL;
}

int tree_each_kind(struct config *c, int (*fn)(struct config *c, struct node *kind, void *arg),
		   void *arg)
{
	struct node *above[] = { &c->root, &c->backstores };
	int code = 0;
	for (int i = 0; i < 2; i++)
		list_each_safe (struct node, kind, &above[i]->children, link)
			if (!code && kind != &c->backstores)
				code = fn(c, kind, arg);
	return code;
}

int tree_appeared(struct config *c, struct node *n, struct reply *r, struct err *e)
{
	int code = 0;
	for (const struct node_class *const *k = c->classes; !code && *k; k++)
		if ((*k)->appeared)
			code = (*k)->appeared(c, n, r, e);
	return code;
}

void tree_summary(struct config *c, const struct node *n, struct summary *ret)
{
	*ret = (struct summary){ .text = "" };
	if (n->class->summary)
		n->class->summary(c, n, ret);
	else if (n->class->counts)
		snprintf(ret->text, sizeof ret->text, "%s: %u", n->class->counts, n->child_count);
	else
		snprintf(ret->text, sizeof ret->text, "...");
}

void tree_free(struct config *c, struct node *n)
{
	node_done(n);
	free(n); // the object begins with its node
}
