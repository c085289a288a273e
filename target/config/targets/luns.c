// SPDX-License-Identifier: BSD-2-Clause
// LUNs of a portal group: /iscsi/WWN/tpgN/luns.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/utf8.h"
#include "target/config/file/file.h"
#include "target/config/targets/lun.h"
#include "target/config/tree/in_use.h"
#include "target/config/tree/names.h"

// The lowest number not used by a child of n named PREFIXnumber; above LUN_MAX: none is free. All
// children of n have such names, so the next search starts with the number found here.
static uint32_t number_free(const struct config *c, struct node *n, const char *prefix)
{
	char name[24];
	uint32_t i = n->numbers_taken;
	for (; i <= LUN_MAX; i++, config_work.names++) {
		snprintf(name, sizeof name, "%s%u", prefix, i);
		if (!node_child(&c->names, n, name))
			break;
	}
	n->numbers_taken = i;
	return i;
}

int number_pick(const struct config *c, struct node *n, const char *prefix, const char *text,
		struct err *e)
{
	int number = text ? number_of(text, prefix, LUN_MAX) : (int)number_free(c, n, prefix);
	if (text && number < 0)
		return err_set(e, -EINVAL, "%s: invalid LUN number '%.40s' (0..%d)", prefix, text,
			       LUN_MAX);
	if (number > LUN_MAX)
		return err_set(e, -ENOSPC, "%s: all numbers up to %d are in use", prefix, LUN_MAX);
	return number;
}

static int lun_new(struct config *c, struct node **ret, struct tpg *tpg, uint32_t number,
		   struct storage *s, struct err *e)
{
	char name[16];
	snprintf(name, sizeof name, "lun%u", number);
	struct lun *l = tree_new(sizeof *l, &lun_class, name, e);
	if (!l)
		return -ENOMEM;
	l->number = number;
	l->storage = s;
	list_init(&l->storage_link);
	list_init(&l->mapped);
	name_new_alias(l->alias);
	snprintf(l->group, sizeof l->group, ALUA_DEFAULT_GROUP);
	*ret = &l->node;
	return tree_add(c, &tpg->luns, &l->node, e, "LUN %u already exists", number);
}

static struct lun *lun_of_storage(const struct tpg *tpg, const struct storage *s)
{
	list_each (struct lun, l, &s->luns, storage_link) {
		if (l->node.parent == &tpg->luns)
			return l;
	}
	return NULL;
}

// A storage object, or a new one for an existing file or device, named after its path, as in
// targetcli.
static int storage_for(struct config *c, const char *path, const struct args *a,
		       struct storage **ret, struct reply *r, struct err *e)
{
	struct stat st;
	char name[NAME_MAX_LEN + 1];
	struct storage *s = storage_find(c, path);
	*ret = s = s ? s : storage_at(c, path);
	if (s)
		return 0;
	if (*path != '/' || stat(path, &st) < 0 || !(S_ISBLK(st.st_mode) || S_ISREG(st.st_mode)))
		return private_tmp_refuse(path, -ENOENT, e)
			       ? -ENOENT
			       : err_set(e, -ENOENT, "storage object or path not valid: %.120s",
					 path);
	int code = name_check_dev(path, e);
	if (code < 0)
		return code;
	snprintf(name, sizeof name, "%s", path + 1);
	for (char *p = name; *p; p++)
		if (*p == '/')
			*p = '-';
	const char *plugin = S_ISBLK(st.st_mode) ? "block" : "fileio";
	code = storage_new(c, &s, storage_type_of(c, plugin)->type, name, e);
	if (code < 0)
		return code;
	s->accepts_data = !arg_bool(a, "inspect", true);
	code = storage_set_option(s, "dev", path, e);
	if (!code)
		code = storage_open(s, true, e);
	if (code < 0)
		return code;
	s->node.class->attached(c, &s->node, true);
	reply_say(r, "Created storage object %s.", name);
	*ret = s;
	return 0;
}

static int map_for_acls(struct config *c, struct tpg *tpg, struct lun *l, struct reply *r,
			struct err *e)
{
	list_each (struct acl, a, &tpg->acls.children, node.link) {
		uint32_t number = l->number;
		char name[24];
		snprintf(name, sizeof name, "mapped_lun%u", number);
		if (node_child(&c->names, &a->node, name))
			number = number_free(c, &a->node, "mapped_lun");
		int code = mapped_lun_new(c, NULL, &a->node, number, l, l->number, false, e);
		if (code < 0)
			return code;
		reply_say(r, "Created LUN %u->%u mapping in node ACL %s", l->number, number,
			  a->node.name);
	}
	return 0;
}

int lun_for(struct config *c, struct tpg *tpg, const struct args *a, struct lun **ret,
	    struct reply *r, struct err *e)
{
	const char *text = arg(a, "tpg_lun_or_backstore");
	char name[16];
	int number = number_of(text, "lun", 65535);
	snprintf(name, sizeof name, "lun%d", number);
	struct node *l = number < 0 ? NULL : node_child(&c->names, &tpg->luns, name);
	if (l)
		return *ret = NODE_OF(struct lun, l), 0;
	if (number >= 0)
		return err_set(e, -ENOENT, "no LUN %d", number);
	struct storage *s;
	int code = storage_for(c, text, a, &s, r, e);
	if (code < 0)
		return code;
	*ret = lun_of_storage(tpg, s);
	if (*ret)
		return 0;
	number = number_pick(c, &tpg->luns, "lun", NULL, e);
	code = number < 0 ? number : lun_new(c, &l, tpg, (uint32_t)number, s, e);
	if (code < 0)
		return code;
	*ret = NODE_OF(struct lun, l);
	reply_say(r, "Created LUN %d.", number);
	return 0;
}

static int create_lun(struct config *c, struct node *n, const struct args *a, struct reply *r,
		      struct err *e)
{
	struct storage *s;
	struct tpg *tpg = tpg_of(n);
	struct node *l;
	int number = number_pick(c, n, "lun", arg(a, "lun"), e);
	if (number < 0)
		return number;
	int code = storage_for(c, arg(a, "storage_object"), a, &s, r, e);
	if (code < 0)
		return code;
	if (lun_of_storage(tpg, s))
		return err_set(e, -EEXIST, "lun for storage object %s/%s already exists",
			       s->node.parent->name, s->node.name);
	code = lun_new(c, &l, tpg, (uint32_t)number, s, e);
	if (code < 0)
		return code;
	reply_say(r, "Created LUN %d.", number);
	if (!s->lu)
		reply_say(r, "Warning: storage waiting: %s", s->reason);
	if (arg_bool(a, "add_mapped_luns", c->prefs.auto_add_mapped_luns))
		code = map_for_acls(c, tpg, NODE_OF(struct lun, l), r, e);
	return code;
}

int lun_given(const struct node *n, const struct args *a, char out[CHILD_NAME_SIZE], struct err *e)
{
	const char *prefix = n->class->child.prefix, *text = a->value[0];
	int number = number_of(text, prefix, 65535);
	if (number < 0)
		return err_set(e, -EINVAL, "%s: '%.60s' is not a %sLUN (such as 3 or %s3)", prefix,
			       text, n->class == &luns_class ? "" : "mapped ", prefix);
	snprintf(out, CHILD_NAME_SIZE, "%d", number);
	return 0;
}

static void summarize_lun(struct config *c, const struct node *n, struct summary *ret)
{
	const struct lun *l = NODE_OF(const struct lun, n);
	const struct storage *s = l->storage;
	if (!s) {
		snprintf(ret->text, sizeof ret->text, "BROKEN STORAGE LINK");
		ret->is_broken = true;
		return;
	}
	const char *dev = storage_get_option(s, "dev");
	char shown[101] = "";
	if (dev)
		utf8_show(dev, shown, sizeof shown);
	snprintf(ret->text, sizeof ret->text, "%s/%s%s%s%s (%.60s)%s", s->node.parent->name,
		 s->node.name, dev ? " (" : "", shown, dev ? ")" : "", l->group,
		 s->lu ? "" : ", no storage");
	ret->is_healthy = s->lu != NULL;
	ret->is_broken = !s->lu;
}

static void info_lun(struct config *c, const struct node *n, struct json_object *ret)
{
	const struct lun *l = NODE_OF(const struct lun, n);
	struct json_object *list = json_list(ret, "mapped_luns");
	char path[600];
	json_put_number(ret, "lun", l->number);
	if (l->storage) {
		node_path(&l->storage->node, path, sizeof path);
		json_put_text(ret, "storage_object", path);
	}
	list_each (const struct mapped_lun, m, &l->mapped, lun_link) {
		node_path(&m->node, path, sizeof path);
		json_add_text(list, path);
	}
}

static void attach_lun(struct config *c, struct node *n, bool is_attached)
{
	struct lun *l = NODE_OF(struct lun, n);
	if (!l->storage) {
		c->targets->broken_luns += is_attached ? 1 : -1u;
		return;
	}
	if (is_attached)
		list_push_back(&l->storage->luns, &l->storage_link);
	else
		list_remove(&l->storage_link);
	l->storage->lun_count += is_attached ? 1 : -1u;
}

// An initiator with an ACL sees a LUN under the numbers of its mapped LUNs.
static bool is_used(const struct node *n, const struct session_place *p)
{
	const struct lun *l = NODE_OF(const struct lun, n);
	if (n->parent->parent != p->tpg)
		return false;
	if (!p->acl)
		return place_uses(p, l->number);
	list_each (const struct mapped_lun, m, &l->mapped, lun_link) {
		if (m->node.parent == p->acl && place_uses(p, m->number))
			return true;
	}
	return false;
}

static int remove_mappings(struct config *c, struct node *n, struct err *e)
{
	struct list *mapped = &NODE_OF(struct lun, n)->mapped;
	int r = 0;
	while (!r && !list_empty(mapped))
		r = tree_remove(c, &list_entry(mapped->next, struct mapped_lun, lun_link)->node, e);
	return r;
}

static void free_lun(struct config *c, struct node *n)
{
	struct lun *l = NODE_OF(struct lun, n);
	if (l->storage && storage_unit(l->storage) && l->relative_port) {
		alua_port_remove(storage_unit(l->storage), l->relative_port);
		// Several may be reached by the same port.
		list_each (struct lun, other, &l->storage->luns, storage_link)
			other->told.lu = NULL;
	}
	node_done(n);
	free(l);
}

// ---- the saved file ----

static size_t saved_storage(struct node *n, const struct attr_row *row, char *out, size_t size)
{
	const struct storage *s = NODE_OF(const struct lun, n)->storage;
	*out = 0;
	return s ? node_path(&s->node, out, size) : 0;
}

static void key_of_storage(struct frozen_key *k, const struct node *n)
{
	const struct storage *s = NODE_OF(const struct lun, n)->storage;
	frozen_key_add_text(k, s ? s->type->name : NULL);
	frozen_key_add_text(k, s ? s->node.name : NULL);
}

// The storage object of the entry; NULL: no such object, or this change removes it.
static struct storage *storage_in(const struct restore *r, struct json_object *o)
{
	const char *path = json_text(o, "storage_object");
	struct storage *s = path ? storage_find(r->c, path) : NULL;
	bool leaves = s && r->options->is_apply && !r->options->only_target && !s->node.is_named;
	return leaves ? NULL : s;
}

static bool is_same_lun(struct restore *r, const struct node *n, struct json_object *o)
{
	return NODE_OF(const struct lun, n)->storage == storage_in(r, o);
}

static int make_lun(struct restore *r, struct node *n, const char *name, struct json_object *o,
		    struct node **ret, struct err *e)
{
	int number = number_of(name, "lun", 65535);
	return lun_new(r->c, ret, tpg_of(n), (uint32_t)number, storage_in(r, o), e);
}

static int check_links(struct restore *r, struct node *n, struct json_object *o, bool is_old,
		       struct err *e)
{
	const struct lun *l = NODE_OF(const struct lun, n);
	const struct storage *s = l->storage;
	const char *path = json_text(o, "storage_object");
	if (s && !node_child(&r->c->names, &s->alua, l->group) && !s->type->is_passthrough)
		restore_complain(r, "LUN %u: no ALUA group '%s', using the default group",
				 l->number, l->group);
	if (!s && path)
		restore_keep(n, "storage_object", json_field(o, "storage_object"));
	if (!s)
		restore_complain(r, "LUN %u: no storage object %.120s, LUN kept without it",
				 l->number, path ? path : "named");
	if (l->number > LUN_MAX)
		restore_complain(r, "LUN %u: above %d, not shown to initiators", l->number,
				 LUN_MAX);
	return 0;
}

// ---- rows ----

// clang-format off
static const struct command_row luns_commands[] = {
	{ "create", PARAMS(
		{ "storage_object", PARAM_STORAGE, true, NULL,
		  "path of a storage object, or of an existing file or device" },
		{ "lun", PARAM_STRING, false, NULL, "3 or lun3 (default: the lowest free number)" },
		{ "add_mapped_luns", PARAM_BOOL, false, NULL,
		  "map the LUN in every ACL (default: see get global)" },
		PARAM_INSPECT),
	  "Export a storage object as a LUN.", false, create_lun },
	{ "delete", PARAMS(
		{ "lun", PARAM_CHILD, true, NULL, "3 or lun3" },
		PARAM_FORCE),
	  "Delete a LUN and its mappings.", false, delete_child },
	{ 0 },
};
static const struct group_row saved_fields[] = {
	{ .form = SAVED_TYPED, .is_whole = true, .rows = VALUES(
		{ "alias", ATTR_STRING, offsetof(struct lun, alias), .max = 11,
		  .flags = ATTR_GENERATED }),
	  .offset = offsetof(struct lun, alias), .size = 11 },
	{ .form = SAVED_TYPED, .get = saved_storage, .key = key_of_storage, .rows = VALUES(
		{ "storage_object", ATTR_STRING, .flags = ATTR_GIVEN | ATTR_SPARSE }) },
	{ 0 },
};
// clang-format on

static const struct saved_class lun_saved = {
	.list = "luns",
	.folder = "luns",
	.id = { "index" },
	.prefix = "lun",
	.is_numbered = true,
	.depth = 6,
	.fields = saved_fields,
	.is_same = is_same_lun,
	.make = make_lun,
	.filled = check_links,
};

const struct node_class luns_class = {
	.name = "luns",
	.help = "Storage objects exported by this portal group",
	.commands = luns_commands,
	.child = {"no LUN %s", "Deleted LUN %s.", "lun", lun_given},
	.counts = "LUNs",
};
const struct node_class lun_class = {
	.name = "lun",
	.help = "A LUN of the portal group",
	.saved = &lun_saved,
	.remove_users = remove_mappings,
	.is_used = is_used,
	.appeared = luns_find_storage,
	.groups = lun_groups,
	.summary = summarize_lun,
	.info = info_lun,
	.attached = attach_lun,
	.free = free_lun,
};
