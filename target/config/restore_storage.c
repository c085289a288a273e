// SPDX-License-Identifier: BSD-2-Clause
// storage_objects of a saved file.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/config/restore.h"

static bool is_option(const struct storage *s, const char *key)
{
	for (const struct bs_option *o = s->type->options; o->name; o++)
		if (!strcmp(o->name, key))
			return true;
	return false;
}

static void set_options(struct restore *r, struct storage *s, struct json_object *o)
{
	if (!json_object_is_type(o, json_type_object))
		return;
	json_object_object_foreach(o, key, value)
	{
		const char *text = json_scalar(value);
		struct err e = { 0 };
		if (!is_option(s, key) || (text && !*text))
			continue;
		if (!text)
			restore_complain(r, "%s: %s is not a scalar", s->node.name, key);
		else if (storage_set_option(s, key, text, &e) < 0)
			restore_complain(r, "%s: %s", s->node.name, e.text);
	}
}

static void keep_storage_keys(struct restore *r, struct storage *s, struct json_object *o)
{
	static const char *const known[] = { "name",	   "plugin",	"wwn",
					     "attributes", "alua_tpgs", NULL };
	const char *all[STORAGE_OPTIONS_MAX + 8];
	size_t n = 0;
	for (const char *const *k = known; *k; k++)
		all[n++] = *k;
	for (const struct bs_option *option = s->type->options; option->name; option++)
		all[n++] = option->name;
	all[n] = NULL;
	restore_keep_unknown(r, &s->node, o, all);
}

static int add_foreign_storage(struct restore *r, const char *plugin, const char *name,
			       struct json_object *o, struct err *e)
{
	struct config *c = r->c;
	struct node *n = node_child(&c->names, &c->backstores, plugin);
	if (strchr(plugin, '/') || !*plugin || name_check_storage(name, e) < 0)
		return err_set(e, -EINVAL, "invalid name '%.40s/%.80s'", plugin, name);
	if (!n) {
		int code = foreign_new(c, &c->backstores, &fabric_class, plugin, NULL, e);
		if (code < 0)
			return code;
		n = node_child(&c->names, &c->backstores, plugin);
	}
	int met = restore_meet_foreign(r, n, name, o, e);
	if (met)
		return met < 0 ? met : 0;
	restore_complain(r, "storage object %s: plugin '%s' is not supported, kept", name, plugin);
	return restore_add_foreign(r, n, &foreign_storage_class, name, o, e);
}

static int add_alua_group(struct restore *r, void *parent, struct json_object *o, struct err *e)
{
	struct storage *s = parent;
	const char *name = json_text(o, "name");
	struct alua_node *g;
	struct node *there;
	if (!name)
		return err_set(e, -EINVAL, "missing 'name'");
	const struct group_row *rows = group_find(&alua_group_class, "alua");
	there = node_child(&r->c->names, &s->alua, name);
	if (there) {
		g = NODE_OF(struct alua_node, there);
	} else {
		int id = restore_number_field(o, "tg_pt_gp_id", 65535, e);
		int code = id < 0 ? id : alua_check_name(s, name, (uint32_t)id, e);
		if (!code)
			code = alua_new(r->c, &g, s, name, (uint32_t)id, e);
		if (code < 0)
			return code;
	}
	restore_named(r, &g->node, there != NULL);
	void *before = there ? restore_refill(r, rows, there) : NULL;
	json_object_object_foreach(o, key, value)
	{
		const struct attr_row *row = attr_find(alua_group_rows, key);
		const char *text = json_scalar(value);
		struct err why = { 0 };
		if (!strcmp(key, "name") || (row && row->flags & ATTR_READONLY))
			continue;
		if (row && text && !attr_set(row, &g->attr, text, &why))
			continue;
		if (row)
			restore_complain(r, "%s: %s: %s", s->node.name, name, why.text);
		else
			restore_tell_unknown(r, "alua key", key, s->node.name);
		restore_keep(&g->node, key, value);
	}
	restore_refill_end(r, rows, &g->node, before);
	return 0;
}

static void note_leaving(struct restore *r)
{
	const struct txn *t = &r->c->txn;
	for (; r->leaving_seen < t->count; r->leaving_seen++) {
		const struct txn_entry *entry = &t->entries[r->leaving_seen];
		if (entry->kind != TXN_REMOVED || entry->node->class != &storage_class)
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
	note_leaving(r);
	return dev ? map_get(&r->leaving, r, dev) : NULL;
}

// Whether the option's text in the document equals the object's value.
static bool is_same_option(const struct storage *s, int i, const char *text)
{
	const struct bs_option *o = &s->type->options[i];
	uint64_t size = 0;
	if (text && !*text)
		text = NULL;
	switch (o->type) {
	case BS_OPT_BOOL:
		return is_yes(text) == is_yes(s->option[i]);
	case BS_OPT_SIZE:
		if (s->lu && storage_get_option(s, "dev")) // restore_check_sizes() has looked at it
			return true;
		return !text || (!parse_size(text, &size, NULL) && size == storage_size(s));
	default:
		return !text == !s->option[i] && (!text || !strcmp(text, s->option[i]));
	}
}

// Whether the document describes this disk; settings may differ.
static bool is_same_storage(struct restore *r, const struct storage *s, struct json_object *o)
{
	struct json_object *own = restore_own_section(r, &s->node);
	struct json_object *options = json_field(own, "options");
	const char *wwn = json_text(o, "wwn") ? json_text(o, "wwn") : json_text(own, "wwn");
	if (wwn && strcasecmp(wwn, s->wwn))
		return false;
	for (int i = 0; s->type->options[i].name; i++) {
		const char *name = s->type->options[i].name;
		const char *text = json_scalar(json_field(o, name));
		if (!is_same_option(s, i, text ? text : json_scalar(json_field(options, name))))
			return false;
	}
	return true;
}

static int fill_storage(struct restore *r, struct storage *s, struct json_object *o, bool is_old,
			struct err *e)
{
	restore_named(r, &s->node, is_old);
	restore_set_group(r, &s->node, "attribute", o, "attributes");
	int code = 0;
	if (!s->type->is_passthrough) {
		restore_each(r, &s->node, s, o, "alua_tpgs", add_alua_group);
		struct node *group = node_child(&r->c->names, &s->alua, ALUA_DEFAULT_GROUP);
		if (group)
			group->is_named = true; // always exists
		code = restore_sweep(r, &s->alua, e);
		if (group)
			group->is_named = false;
	} else if (json_object_is_type(json_field(o, "alua_tpgs"), json_type_array)) {
		restore_keep(&s->node, "alua_tpgs", json_field(o, "alua_tpgs"));
	}
	keep_storage_keys(r, s, o);
	return code;
}

// The storage object exists: fills it again, or removes it to recreate it. 1: nothing left to do.
static int meet_storage(struct restore *r, struct node *there, struct json_object *o, struct err *e)
{
	struct storage *s = NODE_OF(struct storage, there);
	if (!r->options->is_apply) {
		restore_complain(r, "storageobject '%s:%s' exist not restoring", s->type->name,
				 there->name);
		return 1;
	}
	if (is_same_storage(r, s, o)) {
		int code = fill_storage(r, s, o, true, e);
		map_put(&r->serials, r, s->wwn, s);
		return code < 0 ? code : 1;
	}
	return model_remove(r->c, there, e);
}

// "rd0", "ramdisk/rd0", "ramdisk:rd0", "/backstores/ramdisk/rd0"
bool restore_is_meant(const char *wanted, const char *plugin, const char *name)
{
	static const char top[] = "/backstores/";
	if (!wanted || !strcmp(wanted, name))
		return true;
	if (!strncmp(wanted, top, strlen(top)))
		wanted += strlen(top);
	size_t n = strlen(plugin);
	return !strncmp(wanted, plugin, n) && strchr("/:", wanted[n]) && wanted[n] &&
	       !strcmp(wanted + n + 1, name);
}

int restore_storage(struct restore *r, void *parent, struct json_object *o, struct err *e)
{
	const char *plugin = json_text(o, "plugin"), *name = json_text(o, "name");
	struct storage *s;
	if (!plugin || !name)
		return err_set(e, -EINVAL, "'plugin' or missing 'name'");
	if (!restore_is_meant(r->options->only_storage, plugin, name))
		return 0;
	struct storage_type *st = storage_type_of(r->c, plugin);
	if (!st)
		return add_foreign_storage(r, plugin, name, o, e);
	struct node *there = node_child(&r->c->names, &st->node, name);
	int code = r->options->is_running && there ? meet_storage(r, there, o, e) : 0;
	if (code)
		return code < 0 ? code : 0;
	code = storage_new(r->c, &s, st->type, name, e);
	if (code < 0)
		return code;
	struct json_object *own = restore_own_section(r, &s->node);
	const char *wwn = json_text(o, "wwn") ? json_text(o, "wwn") : json_text(own, "wwn");
	struct err why = { 0 };
	if (wwn && !name_check_wwn(wwn, &why))
		snprintf(s->wwn, sizeof s->wwn, "%s", wwn);
	else if (wwn)
		restore_complain(r, "%s: %s; generated a new one", name, why.text);
	const struct storage *twin = map_get(&r->serials, r, s->wwn);
	if (twin)
		restore_complain(
			r,
			"%s: unit serial %s is also used by %s: initiators mistake them for "
			"one disk (give one another wwn)",
			name, s->wwn, twin->node.name);
	else
		map_put(&r->serials, r, s->wwn, s);
	set_options(r, s, json_field(own, "options"));
	set_options(r, s, o); // wins: a person writes an option there
	restore_true_size(r, s, held_by_what_goes(r, s));
	code = fill_storage(r, s, o, false, e);
	if (code < 0)
		return code;
	storage_class.attached(r->c, &s->node, true); // its device path is now known
	code = luns_find_storage(r->c, s, NULL, e);
	if (code < 0)
		return code;
	if (!r->options->is_dry && storage_open(s, false, &why) < 0 &&
	    !(why.code == -EBUSY && held_by_what_goes(r, s)))
		restore_complain(r, "storage object %s/%s waiting: %s", st->node.name, name,
				 why.text);
	return 0;
}
