// SPDX-License-Identifier: BSD-2-Clause
// A storage object in the saved file.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "target/config/file/kept.h"
#include "target/config/file/restore.h"
#include "target/config/storage/storage.h"
#include "target/config/tree/names.h"
#include "target/scsi/lu.h"

// ---- options as rows ----

// The options of rtslib's constructor for a plugin; any other makes it refuse the object. sparse is
// one of targetcli.
static bool is_known(const struct bs_option *o)
{
	return !o->is_own && strcmp(o->name, "sparse");
}

void storage_saved_options(struct storage_type *st)
{
	struct attr_row *row = st->options;
	for (const struct bs_option *o = st->type->options; o->name; o++)
		*row++ = (struct attr_row){
			.name = o->name,
			.type = o->type == BS_OPT_BOOL	 ? ATTR_BOOL
				: o->type == BS_OPT_SIZE ? ATTR_UINT64
							 : ATTR_STRING,
			.flags = ATTR_GIVEN | ATTR_SPARSE | (is_known(o) ? 0 : ATTR_OWN),
		};
}

static const struct attr_row *option_rows(const struct node *n)
{
	return NODE_OF(const struct storage_type, n->parent)->options;
}

static size_t get_option(struct node *n, const struct attr_row *row, char *out, size_t size)
{
	const struct storage *s = NODE_OF(const struct storage, n);
	const char *text = storage_get_option(s, row->name);
	bool has_found_size = !text && s->lu && !strcmp(row->name, "size"); // in its file
	*out = 0;
	if (row->type == ATTR_UINT64 && (text || has_found_size))
		snprintf(out, size, "%" PRIu64, storage_size(s));
	else if (row->type == ATTR_BOOL && text)
		snprintf(out, size, "%d", is_yes(text));
	else if (text)
		snprintf(out, size, "%s", text);
	return strlen(out);
}

static void key_of_options(struct frozen_key *k, const struct node *n)
{
	const struct storage *s = NODE_OF(const struct storage, n);
	uint64_t size = storage_size(s);
	bool is_open = s->lu;
	frozen_key_add(k, &size, sizeof size);
	frozen_key_add(k, &is_open, sizeof is_open);
	for (int i = 0; s->type->options[i].name; i++)
		frozen_key_add_text(k, s->option[i]);
}

// rtslib takes no wwn for pass-through objects.
static bool is_passthrough(const struct node *n, const struct attr_row *row)
{
	return NODE_OF(const struct storage, n)->type->is_passthrough;
}

static const struct attr_row wwn_rows[] = {
	{.name = "wwn",
	  .type = ATTR_STRING,
	  .offset = offsetof(struct storage, wwn),
	  .max = sizeof(((struct storage *)0)->wwn),
	  .flags = ATTR_GIVEN },
	{ 0},
};
static const struct group_row fields[] = {
	{.name = "options",
	  .form = SAVED_TYPED,
	  .node_rows = option_rows,
	  .get = get_option,
	  .key = key_of_options },
	{ .form = SAVED_TYPED,
	  .rows = wwn_rows,
	  .offset = offsetof(struct storage, wwn),
	  .size = sizeof(((struct storage *)0)->wwn),
	  .is_own = is_passthrough },
	{ 0   },
};

// Its ALUA groups.
static void add_key(struct frozen_key *k, struct node *n)
{
	struct storage *s = NODE_OF(struct storage, n);
	list_each (struct alua_node, g, &s->alua.children, node.link) {
		frozen_key_add_text(k, g->node.name);
		frozen_key_add(k, &g->attr, sizeof g->attr);
		k->bytes.has_failed |= g->node.kept != NULL; // its address alone is not enough
	}
}

// ---- reading ----

static void set_options(struct restore *r, struct storage *s, struct json_object *o)
{
	for (const struct bs_option *option = s->type->options; option->name; option++) {
		struct json_object *v = NULL;
		bool is_there = json_has(o, option->name, &v);
		const char *text = json_scalar(v);
		struct err e = { 0 };
		if (!is_there || (text && !*text))
			continue;
		if (!text)
			restore_complain(r, "%s: %s is not a scalar", s->node.name, option->name);
		else if (storage_set_option(s, option->name, text, &e) < 0)
			restore_complain(r, "%s: %s", s->node.name, e.text);
	}
}

static void note_leaving(struct restore *r, const struct node_class *class)
{
	const struct txn *t = &r->c->txn;
	for (; r->leaving_seen < t->count; r->leaving_seen++) {
		const struct txn_entry *entry = &t->entries[r->leaving_seen];
		if (entry->kind != TXN_REMOVED || entry->node->class != class)
			continue;
		struct storage *gone = NODE_OF(struct storage, entry->node);
		const char *dev = storage_get_option(gone, "dev");
		if (gone->lu && dev)
			map_put(&r->leaving, r, dev, gone);
	}
}

// The file or device belongs to an object that this restore replaces: it is free, and opened, at
// the commit.
static const struct storage *held_by_what_goes(struct restore *r, const struct storage *s)
{
	const char *dev = storage_get_option(s, "dev");
	note_leaving(r, s->node.class);
	return dev ? map_get(&r->leaving, r, dev) : NULL;
}

// Whether the option's text in the document equals the object's value.
static bool is_same_option(const struct storage *s, int i, const char *text, bool is_undo)
{
	const struct bs_option *o = &s->type->options[i];
	uint64_t size = 0;
	if (text && !*text)
		text = NULL;
	switch (o->type) {
	case BS_OPT_BOOL:
		return is_yes(text) == is_yes(s->option[i]);
	case BS_OPT_SIZE:
		// storage_check_size() has looked at it.
		if (s->lu && (is_undo || storage_get_option(s, "dev")))
			return true;
		return !text || (!parse_size(text, &size, NULL) && size == storage_size(s));
	default:
		if (o->is_found && !text)
			return true;
		return !text == !s->option[i] && (!text || !strcmp(text, s->option[i]));
	}
}

static const char *saved_wwn(struct restore *r, const struct node *n, struct json_object *o)
{
	const char *wwn = json_text(o, "wwn");
	return wwn ? wwn : json_text(restore_own_section(r, n), "wwn");
}

// Whether the document describes this disk; settings may differ.
static bool is_same(struct restore *r, const struct node *n, struct json_object *o)
{
	const struct storage *s = NODE_OF(const struct storage, n);
	struct json_object *options = json_field(restore_own_section(r, n), "options");
	const char *wwn = saved_wwn(r, n, o);
	if (wwn && strcasecmp(wwn, s->wwn))
		return false;
	for (int i = 0; s->type->options[i].name; i++) {
		const char *name = s->type->options[i].name;
		const char *text = json_scalar(json_field(o, name));
		if (!text)
			text = json_scalar(json_field(options, name));
		if (!is_same_option(s, i, text, r->options->is_undo && !r->options->is_forced))
			return false;
	}
	return true;
}

static void set_wwn(struct restore *r, struct storage *s, struct json_object *o)
{
	const char *wwn = saved_wwn(r, &s->node, o);
	struct err why = { 0 };
	if (wwn && !name_check_wwn(wwn, &why))
		snprintf(s->wwn, sizeof s->wwn, "%s", wwn);
	else if (wwn)
		restore_complain(r, "%s: %s; generated a new one", s->node.name, why.text);
	const struct storage *twin = map_get(&r->serials, r, s->wwn);
	if (twin)
		restore_complain(
			r,
			"%s: unit serial %s is also used by %s: initiators mistake them for "
			"one disk (give one another wwn)",
			s->node.name, s->wwn, twin->node.name);
}

static int make(struct restore *r, struct node *n, const char *name, struct json_object *o,
		struct node **ret, struct err *e)
{
	struct storage *s;
	int code = storage_new(r->c, &s, NODE_OF(struct storage_type, n)->type, name, e);
	if (code < 0)
		return code;
	set_wwn(r, s, o);
	set_options(r, s, json_field(restore_own_section(r, &s->node), "options"));
	set_options(r, s, o); // wins: a person writes an option there
	restore_true_size(r, s, held_by_what_goes(r, s));
	*ret = &s->node;
	return 0;
}

static int filled(struct restore *r, struct node *n, struct json_object *o, bool is_old,
		  struct err *e)
{
	struct storage *s = NODE_OF(struct storage, n);
	struct err why = { 0 };
	if (!map_get(&r->serials, r, s->wwn))
		map_put(&r->serials, r, s->wwn, s);
	if (is_old)
		return 0;
	n->class->attached(r->c, n, true); // its device path is now known
	int code = tree_appeared(r->c, &s->node, NULL, e);
	if (code < 0)
		return code;
	if (!r->options->is_dry && storage_open(s, false, &why) < 0 &&
	    !(why.code == -EBUSY && held_by_what_goes(r, s)))
		restore_complain(r, "storage object %s/%s waiting: %s", n->parent->name, n->name,
				 why.text);
	if (s->lu && lu_backstore(s->lu)->limits.in_memory == BS_AMONG_NODES)
		restore_complain(r, "storage object %s/%s: %s", n->parent->name, n->name,
				 lu_backstore(s->lu)->note);
	return 0;
}

static int name(struct restore *r, struct node *n, struct json_object *o, char out[SAVED_NAME_SIZE],
		struct err *e)
{
	const char *name = json_text(o, "name");
	snprintf(out, SAVED_NAME_SIZE, "%.*s", SAVED_NAME_SIZE - 1, name);
	if (!restore_leaves(r, n, name))
		return 0;
	restore_complain(r, "storageobject '%s:%s' exist not restoring", n->name, name);
	return 1;
}

// ---- any entry of storage_objects ----

static int keep_unsupported(struct restore *r, const char *plugin, const char *name,
			    struct json_object *o, struct err *e)
{
	if (strchr(plugin, '/') || !*plugin || name_check_storage(name, e) < 0)
		return err_set(e, -EINVAL, "invalid name '%.40s/%.80s'", plugin, name);
	struct node *n = kept_kind(r->c, &r->c->backstores, plugin, e);
	if (!n)
		return e->code;
	int code = restore_foreign(r, n, &foreign_storage_class, name, o, e);
	if (code)
		restore_complain(r, "storage object %s: plugin '%s' is not supported, kept", name,
				 plugin);
	return code;
}

static int entry(struct restore *r, struct node *n, const struct node_class *class,
		 struct json_object *o, struct err *e)
{
	const char *plugin = json_text(o, "plugin"), *name = json_text(o, "name");
	if (!plugin || !name)
		return err_set(e, -EINVAL, "'plugin' or missing 'name'");
	if (!storage_is_meant(r->options->only_storage, plugin, name))
		return 0;
	struct storage_type *st = storage_type_of(r->c, plugin);
	return st ? restore_entry(r, &st->node, class, o, e)
		  : keep_unsupported(r, plugin, name, o, e);
}

static const struct node_class *const lists[] = { &alua_group_class, NULL };
static const char *const ignored[] = { "wwn",
				       NULL }; // of pass-through types, whose rows have it as ours
const struct saved_class storage_saved = {
	.list = "storage_objects",
	.above = "/backstores",
	.id = {"plugin", "name"},
	.between = "/",
	.depth = 2,
	.fields = fields,
	.lists = lists,
	.ignored = ignored,
	.key = add_key,
	.entry = entry,
	.check = storage_check_size,
	.name = name,
	.is_same = is_same,
	.make = make,
	.filled = filled,
};
