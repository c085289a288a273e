// SPDX-License-Identifier: BSD-2-Clause
// Changes of the tree, within the transaction.
#include <errno.h>

#include "target/config/model.h"

struct config_work config_work;

void tree_changed(struct config *c, struct node *n)
{
	while (n && !n->class->changed)
		n = n->parent;
	if (n)
		n->class->changed(c, n);
}

int tree_remove(struct config *c, struct node *n, struct err *e)
{
	int r = 0;
	while (!r && !list_empty(&n->children))
		r = tree_remove(c, list_entry(n->children.next, struct node, link), e);
	if (!r && n->class->remove_users)
		r = n->class->remove_users(c, n, e);
	if (r < 0)
		return r;
	tree_changed(c, n);
	return txn_detach(c, n) < 0 ? err_set(e, -ENOMEM, "%s: out of memory", n->name) : 0;
}

int tree_add(struct config *c, struct node *parent, struct node *n, const char *taken,
	     struct err *e)
{
	int r = txn_attach(c, parent, n);
	if (!r) {
		tree_changed(c, n);
		return 0;
	}
	r = r == -EEXIST ? err_set(e, r, "%s", taken)
			 : err_set(e, -ENOMEM, "%s: out of memory", n->name);
	n->class->free(c, n);
	return r;
}
