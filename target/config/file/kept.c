// SPDX-License-Identifier: BSD-2-Clause
// Objects of a saved file that this program does not support: kept, shown, and saved again.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/file/kept.h"

struct node *foreign_new(struct config *c, struct node *parent, const struct node_class *class,
			 const char *name, struct json_object *kept, struct err *e)
{
	struct node *n = tree_new(sizeof *n, class, name, e);
	if (!n)
		return NULL;
	n->kept = json_object_get(kept);
	return tree_add(c, parent, n, e, "an object of this name already exists") < 0 ? NULL : n;
}

struct node *kept_kind(struct config *c, struct node *parent, const char *name, struct err *e)
{
	struct node *n = node_child(&c->names, parent, name);
	if (!n)
		return foreign_new(c, parent, &fabric_class, name, NULL, e);
	if (n->class == &fabric_class)
		return n;
	err_set(e, -EINVAL, "'fabric' cannot be '%s'", name);
	return NULL;
}

static void summarize_fabric(struct config *c, const struct node *n, struct summary *ret)
{
	snprintf(ret->text, sizeof ret->text, "%s: %u, kept",
		 n->parent == &c->backstores ? "Storage Objects" : "Targets", n->child_count);
}

static void summarize_foreign(struct config *c, const struct node *n, struct summary *ret)
{
	snprintf(ret->text, sizeof ret->text, "kept: %s is not supported", n->parent->name);
	ret->is_broken = true;
}

static int delete_foreign(struct config *c, struct node *n, const struct args *a, struct reply *r,
			  struct err *e)
{
	struct node *child = node_child(&c->names, n, arg(a, "name"));
	if (!child)
		return err_set(e, -ENOENT, "No %.200s here", arg(a, "name"));
	int code = tree_remove(c, child, e);
	if (!code && !n->child_count)
		code = tree_remove(c, n, e);
	reply_say(r, "Deleted %s.", arg(a, "name"));
	return code;
}

// clang-format off
static const struct command_row foreign_commands[] = {
	{ "delete", PARAMS(
		{ "name", PARAM_CHILD, true, NULL, "name of the object", "wwn" }),
	  "Delete a kept object.", false, delete_foreign },
	{ 0 },
};
// clang-format on

const struct node_class fabric_class = {
	.name = "kept",
	.help = "Unsupported objects, kept for the saved file",
	.commands = foreign_commands,
	.summary = summarize_fabric,
	.free = tree_free,
};
const struct node_class foreign_class = {
	.name = "kept.target",
	.help = "A target of another fabric, kept for the saved file",
	.summary = summarize_foreign,
	.free = tree_free,
};
const struct node_class foreign_storage_class = {
	.name = "kept.storage",
	.help = "A storage object of another plugin, kept for the saved file",
	.summary = summarize_foreign,
	.free = tree_free,
};
