// SPDX-License-Identifier: BSD-2-Clause
// Initiators with one tag are a group: a command at .../acls/TAG applies to all of them or to none.
// Control thread.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/config/change/command.h"
#include "target/config/change/commit.h"
#include "target/config/targets/targets.h"

// Splits ".../acls/TAG/rest"; NULL: not such a path.
static struct node *split(struct config *c, const char *path, char tag[128], const char **ret_rest)
{
	char above[600];
	const char *at = strstr(path, "/acls/"), *name = at ? at + strlen("/acls/") : "";
	size_t len = strcspn(name, "/");
	if (!len || len >= 128)
		return NULL;
	snprintf(above, sizeof above, "%.*s/acls", (int)(at - path), path);
	snprintf(tag, 128, "%.*s", (int)len, name);
	*ret_rest = name + len;
	struct node *n = node_at(&c->names, &c->root, above);
	return n && n->class == &acls_class ? n : NULL;
}

// Appends the lines of more to those of to; the data is that of the first.
static void merge(struct reply *to, struct reply *more)
{
	if (!to->messages && !to->data) {
		*to = *more;
		return;
	}
	json_each (line, more->messages)
		reply_say(to, "%s", json_object_get_string(line));
	reply_done(more);
}

static int run_on_one(struct config *c, const struct node *acl, const char *rest,
		      const struct config_call *call, bool is_admin, config_run_fn *run,
		      struct reply *out, bool *ret_is_enough, struct err *e)
{
	char path[700];
	struct reply one;
	size_t used = node_path(acl, path, sizeof path);
	snprintf(path + used, sizeof path - used, "%s", rest);
	const struct node *n = node_at(&c->names, &c->root, path);
	if (!n) // an initiator's name may be the tag of another one: do not look it up again
		return err_set(e, -ENOENT, "No such path %.200s", path);
	const struct command_row *row = command_find(c, n->class, call->command);
	*ret_is_enough = row && row->is_readonly;
	int r = run(c, path, call->command, call->positional, call->named, is_admin, &one, e);
	if (!r)
		merge(out, &one);
	return r;
}

bool acl_group_run(struct config *c, const struct config_call *call, bool is_admin,
		   config_run_fn *run, int *ret, struct reply *out, struct err *e)
{
	char tag[128];
	const char *rest;
	struct node *acls = split(c, call->path, tag, &rest);
	bool was_open = c->change->together.is_open, is_enough = false, has_any = false;
	struct txn_mark start = txn_mark(c);
	int r = 0;
	if (!acls)
		return false;
	c->change->together.mark = start;
	c->change->together.is_open = true;
	list_each (const struct acl, a, &acls->children, node.link) {
		if (r || is_enough || !a->tag || strcmp(a->tag, tag))
			continue;
		has_any = true;
		r = run_on_one(c, &a->node, rest, call, is_admin, run, out, &is_enough, e);
	}
	c->change->together.mark = start;
	c->change->together.is_open = was_open;
	if (r < 0 || (!is_enough && txn_has_changed(c, start)))
		r = config_finish(c, r, e);
	if (r < 0)
		reply_done(out);
	*ret = r;
	return has_any;
}
