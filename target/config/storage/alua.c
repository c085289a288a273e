// SPDX-License-Identifier: BSD-2-Clause
// /backstores/TYPE/NAME/alua: target port groups of a storage object. The tree, and so the saved
// file, contains the configured values. The state shown is that of the open logical unit, since
// initiators change states too. Such a state survives a restart only with alua_write_metadata, in
// the file of saved states.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/file/restore.h"
#include "target/config/storage/storage.h"

static struct storage *storage_of(const struct node *group)
{
	return container_of(group->parent, struct storage, alua);
}

int alua_new(struct config *c, struct alua_node **ret, struct storage *s, const char *name,
	     uint32_t id, struct err *e)
{
	struct alua_node *g = tree_new(sizeof *g, &alua_group_class, name, e);
	if (!g)
		return -ENOMEM;
	attr_defaults(alua_group_rows, &g->attr);
	g->attr.tg_pt_gp_id = id;
	g->node.is_fixed = !strcmp(name, ALUA_DEFAULT_GROUP);
	*ret = g;
	return tree_add(c, &s->alua, &g->node, e, "group %s already exists", name);
}

int alua_check_name(const struct storage *s, const char *name, uint32_t id, struct err *e)
{
	if (!*name || strlen(name) >= ALUA_NAME_MAX || strpbrk(name, "/ \t\n"))
		return err_set(e, -EINVAL,
			       "invalid group name (1 to %d characters, without / and blanks)",
			       ALUA_NAME_MAX - 1);
	if (id < 1 || id > 65535)
		return err_set(e, -EINVAL, "The TPG Tag must be between 1 and 65535");
	if (s->alua.child_count >= ALUA_GROUPS_MAX)
		return err_set(e, -ENOSPC, "limit of %d groups reached", ALUA_GROUPS_MAX);
	list_each (const struct alua_node, g, &s->alua.children, node.link) {
		if (g->attr.tg_pt_gp_id == id)
			return err_set(e, -EEXIST, "tag %u is used by group %s", id, g->node.name);
	}
	return 0;
}

// Applies a group to the logical unit that initiators see.
static void push_group(struct storage *s, struct alua_node *g)
{
	struct err e;
	int r = 0;
	if (g->attr.tg_pt_gp_id)
		r = alua_group_new(storage_unit(s), g->node.name, g->attr.tg_pt_gp_id, &e);
	if (!r)
		r = alua_group_configure(storage_unit(s), g->node.name, &g->attr, &e);
	if (r < 0)
		log_warn("%s: ALUA: %s", s->node.name, e.text);
}

void alua_push(struct storage *s)
{
	list_each (struct alua_node, g, &s->alua.children, node.link)
		push_group(s, g);
}

// The group's current settings. During a requested transition the state is the requested one.
static struct alua_attr live_attr(const struct alua_node *g)
{
	struct storage *s = g->node.parent ? storage_of(&g->node) : NULL;
	struct alua_attr attr = g->attr;
	char name[ALUA_NAME_MAX];
	for (unsigned i = 0;
	     s && storage_unit(s) && !alua_group_at(storage_unit(s), i, name, &attr, NULL); i++)
		if (!strcmp(name, g->node.name)) {
			if (g->transitions)
				attr.alua_access_state = g->attr.alua_access_state;
			return attr;
		}
	return g->attr;
}

// ---- commands ----

// Undo create and delete at the logical unit.
static void free_live(struct config *c, struct node *n)
{
	struct storage *s = storage_of(n);
	if (storage_unit(s))
		alua_group_free(storage_unit(s), n->name, NULL);
}

static void make_live(struct config *c, struct node *n)
{
	struct storage *s = storage_of(n);
	if (storage_unit(s))
		push_group(s, NODE_OF(struct alua_node, n));
}

static int create(struct config *c, struct node *n, const struct args *a, struct reply *r,
		  struct err *e)
{
	struct storage *s = container_of(n, struct storage, alua);
	struct alua_node *g;
	const char *name = arg(a, "name");
	int id = number_of(arg(a, "tag"), "", 65535);
	int code = alua_check_name(s, name, id < 0 ? 0 : (uint32_t)id, e);
	if (!code)
		code = alua_new(c, &g, s, name, (uint32_t)id, e);
	if (!code && storage_unit(s))
		code = alua_group_new(storage_unit(s), name, (uint32_t)id, e);
	if (!code && storage_unit(s))
		code = txn_call(c, &g->node, free_live, NULL);
	reply_say(r, "Created ALUA group %s.", name);
	return code;
}

static int delete (struct config *c, struct node *n, const struct args *a, struct reply *r,
		   struct err *e)
{
	struct storage *s = container_of(n, struct storage, alua);
	const char *name = arg(a, "name");
	struct node *g = node_child(&c->names, n, name);
	if (!g)
		return err_set(e, -ENOENT, "No ALUA group %.60s", name);
	if (!strcmp(name, ALUA_DEFAULT_GROUP))
		return err_set(e, -EPERM, "%s cannot be deleted", name);
	list_each (const struct lun, l, &s->luns, storage_link) {
		char path[600];
		if (strcmp(l->group, name))
			continue;
		node_path(&l->node, path, sizeof path);
		return err_set(e, -EBUSY, "%s: in use by %s", name, path);
	}
	int code = storage_unit(s) ? alua_group_free(storage_unit(s), name, e) : 0;
	if (!code && storage_unit(s))
		code = txn_call(c, g, make_live, NULL);
	if (!code)
		code = tree_remove(c, g, e);
	reply_say(r, "Deleted ALUA group %s.", name);
	return code;
}

static const char *state_word(uint32_t state)
{
	static const char *const words[16] = {
		[ALUA_OPTIMIZED] = "Active/optimized",
		[ALUA_NONOPTIMIZED] = "Active/non-optimized",
		[ALUA_IN_STANDBY] = "Standby",
		[ALUA_UNAVAILABLE] = "Unavailable",
		[ALUA_LBA_DEPENDENT] = "LBA Dependent",
		[ALUA_OFFLINE] = "Offline",
		[ALUA_TRANSITIONING] = "Transitioning",
	};
	return state < 16 && words[state] ? words[state] : "unknown";
}

static void summarize_group(struct config *c, const struct node *n, struct summary *ret)
{
	struct alua_attr attr = live_attr(container_of(n, struct alua_node, node));
	snprintf(ret->text, sizeof ret->text, "ALUA state: %s", state_word(attr.alua_access_state));
}

// ---- the group of settings ----

static size_t show_group(struct node *n, const struct attr_row *row, char *out, size_t size)
{
	struct alua_attr attr = live_attr(NODE_OF(struct alua_node, n));
	return attr_get(row, &attr, out, size);
}

// A transition in progress; the group may be deleted before it ends.
struct transition {
	struct config *c;
	char path[NAME_MAX_LEN + ALUA_NAME_MAX + 80];
};

static void transition_done(void *arg, int result)
{
	struct transition *t = arg;
	struct node *n = node_at(&t->c->names, &t->c->root, t->path);
	if (result < 0)
		log_warn("%s: ALUA state changed but not saved: %s", t->path, strerror(-result));
	if (n && n->class == &alua_group_class && NODE_OF(struct alua_node, n)->transitions)
		NODE_OF(struct alua_node, n)->transitions--;
	free(t);
}

static int apply_group(struct config *c, struct node *n, const struct attr_row *row,
		       const char *text, struct err *e)
{
	struct storage *s = storage_of(n);
	struct alua_node *g = NODE_OF(struct alua_node, n);
	if (!storage_unit(s))
		return 0;
	struct transition *t = calloc(1, sizeof *t);
	if (!t)
		return err_set(e, -ENOMEM, "%s: out of memory", n->name);
	t->c = c;
	node_path(n, t->path, sizeof t->path);
	g->transitions++;
	int r = alua_group_set(storage_unit(s), n->name, row, text, transition_done, t, e);
	if (r < 0) {
		g->transitions--;
		free(t);
	}
	return r;
}

// ---- the saved file ----

static int saved_name(struct restore *r, struct node *n, struct json_object *o,
		      char out[SAVED_NAME_SIZE], struct err *e)
{
	const char *name = json_text(o, "name");
	if (!name)
		return err_set(e, -EINVAL, "missing 'name'");
	snprintf(out, SAVED_NAME_SIZE, "%s", name);
	return 0;
}

static int make_group(struct restore *r, struct node *n, const char *name, struct json_object *o,
		      struct node **ret, struct err *e)
{
	struct storage *s = NODE_OF(struct storage, n);
	struct alua_node *g;
	int id = restore_number_field(o, "tg_pt_gp_id", 65535, e);
	int code = id < 0 ? id : alua_check_name(s, name, (uint32_t)id, e);
	if (!code)
		code = alua_new(r->c, &g, s, name, (uint32_t)id, e);
	if (!code)
		*ret = &g->node;
	return code;
}

static const struct saved_class group_saved = {
	.list = "alua_tpgs",
	.folder = "alua",
	.id = { "name" },
	.unknown = "alua key",
	.depth = 4,
	.is_alike = true,
	.name = saved_name,
	.make = make_group,
};

static const struct group_row group_groups[] = {
	{.name = "alua",
	  .form = SAVED_NUMBERS,
	  .rows = alua_group_rows,
	  .at = offsetof(struct alua_node, attr),
	  .size = sizeof(struct alua_attr),
	  .show = show_group,
	  .apply = apply_group },
	{ 0},
};
// clang-format off
static const struct command_row commands[] = {
	{ "create", PARAMS(
		{ "name", PARAM_STRING, true, NULL, "name of the group" },
		{ "tag", PARAM_NUMBER, true, NULL, "number of the group, 1..65535" }),
	  "Create a target port group.", false, create },
	{ "delete", PARAMS(
		{ "name", PARAM_CHILD, true, NULL, "name of the group" }),
	  "Delete a target port group without LUNs.", false, delete },
	{ 0 },
};
// clang-format on

const struct node_class alua_class = {
	.name = "alua",
	.help = "Target port groups of the storage object",
	.commands = commands,
	.counts = "ALUA Groups",
};
const struct node_class alua_group_class = {
	.name = "alua_group",
	.help = "A target port group",
	.saved = &group_saved,
	.groups = group_groups,
	.summary = summarize_group,
	.free = tree_free,
};
