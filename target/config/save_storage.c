// SPDX-License-Identifier: BSD-2-Clause
// A storage object in the saved file.
#include <string.h>

#include "target/config/save.h"

// All that rtslib knows of a pass-through object.
static const char *const passthrough[] = { "alua_support", "emulate_pr", "pgr_support", NULL };

static struct json_object *option_value(const struct storage *s, const struct bs_option *o,
					const char *text)
{
	uint64_t size;
	switch (o->type) {
	case BS_OPT_BOOL:
		return json_object_new_boolean(is_yes(text));
	case BS_OPT_SIZE:
		size = storage_size(s);
		return json_object_new_uint64(size);
	default:
		return json_object_new_string(text);
	}
}

// The options of rtslib's constructor for a plugin; any other makes it refuse the object.
static bool rtslib_takes(const char *plugin, const char *option)
{
	static const char *const taken[][5] = {
		{"block",	   "dev", "readonly", NULL },
		{ "fileio",	    "dev",	   "size",   "write_back", NULL },
		{ "ramdisk", "size",  "nullio",	       NULL },
		{ "pscsi",	   "dev",	  NULL},
	};
	for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
		if (!strcmp(taken[i][0], plugin))
			return save_is_in(taken[i] + 1, option);
	return true; // a plugin unknown to rtslib: all in one place
}

static struct json_object *alua_list(struct storage *s)
{
	struct json_object *list = json_object_new_array();
	list_for_each (i, &s->alua.children) {
		struct alua_node *g = NODE_OF(struct alua_node, list_entry(i, struct node, link));
		struct json_object *o = json_object_new_object();
		json_put_text(o, "name", g->node.name);
		for (const struct attr_row *row = alua_group_rows; row->name; row++) {
			char text[32];
			attr_get(row, &g->attr, text, sizeof text);
			// rtslib writes the group's number and the writable settings.
			if (!(row->flags & ATTR_READONLY) || !strcmp(row->name, "tg_pt_gp_id"))
				json_object_object_add(o, row->name, json_number_or_text(text));
		}
		save_merge(o, g->node.kept);
		json_object_array_add(list, o);
	}
	return list;
}

// Keeps a text for equal objects; takes ownership of made, returns its replacement.
static struct json_object *memorize(struct memo *m, const struct storage *s,
				    struct json_object *made)
{
	json_object_put(m->text);
	m->text = json_frozen(made, STORAGE_DEPTH + 1);
	if (!m->text)
		return made;
	json_object_put(made);
	m->type = s->type;
	return json_object_get(m->text);
}

static struct json_object *saved_attributes(struct save *save, struct storage *s)
{
	struct memo *m = &save->attributes;
	bool is_plain = save->has_texts && !json_field(s->node.kept, "attributes");
	if (is_plain && m->text && m->type == s->type &&
	    !memcmp(&m->attr, &s->attr, sizeof m->attr))
		return json_object_get(m->text);
	char path[600];
	node_path(&s->node, path, sizeof path);
	struct json_object *o = save_values(save, storage_groups, &s->node,
					    s->type->is_passthrough ? passthrough : NULL);
	// Our own section is not part of the text.
	if (!is_plain || json_field(json_field(save->objects, path), storage_groups[0].name))
		return o;
	m->attr = s->attr;
	return memorize(m, s, o);
}

// Nearly every object has only the default group, unchanged.
static struct json_object *saved_groups(struct save *save, struct storage *s)
{
	struct memo *m = &save->alua;
	const struct node *first = list_entry(s->alua.children.next, struct node, link);
	bool is_plain = save->has_texts && s->alua.child_count == 1 && !first->kept &&
			!json_field(s->node.kept, "alua_tpgs") &&
			!strcmp(first->name, ALUA_DEFAULT_GROUP);
	if (!is_plain)
		return alua_list(s);
	const struct alua_attr *attr = &NODE_OF(const struct alua_node, first)->attr;
	if (m->text && !memcmp(&m->group, attr, sizeof *attr))
		return json_object_get(m->text);
	m->group = *attr;
	return memorize(m, s, alua_list(s));
}

static struct json_object *storage_object(struct save *save, struct node *n)
{
	struct storage *s = NODE_OF(struct storage, n);
	struct json_object *o = json_object_new_object();
	const char *plugin = s->type->name;
	json_put_text(o, "name", s->node.name);
	json_put_text(o, "plugin", plugin);
	for (int i = 0; s->type->options[i].name; i++) {
		const struct bs_option *option = &s->type->options[i];
		const char *text = s->option[i];
		// The file determined the size.
		if (!text && s->lu && !strcmp(option->name, "size"))
			text = "0";
		if (!text)
			continue;
		struct json_object *to = rtslib_takes(plugin, option->name)
						 ? o
						 : save_own_part(save, &s->node, "options");
		json_object_object_add(to, option->name, option_value(s, option, text));
	}
	// rtslib takes no wwn for pass-through objects.
	json_put_text(s->type->is_passthrough ? save_own_of(save, &s->node) : o, "wwn", s->wwn);
	json_object_object_add(o, "attributes", saved_attributes(save, s));
	json_object_object_add(o, "alua_tpgs", saved_groups(save, s));
	save_merge(o, s->node.kept);
	return o;
}

static void storage_key(struct frozen_key *k, struct node *n)
{
	struct storage *s = NODE_OF(struct storage, n);
	bool is_open = s->lu;
	uint64_t size = storage_size(s);
	frozen_key_add(k, &s->attr, sizeof s->attr);
	frozen_key_add(k, &is_open, sizeof is_open);
	frozen_key_add(k, &size, sizeof size);
	frozen_key_add_text(k, s->wwn);
	for (int i = 0; s->type->options[i].name; i++)
		frozen_key_add_text(k, s->option[i]);
	list_for_each (i, &s->alua.children) {
		struct alua_node *g = NODE_OF(struct alua_node, list_entry(i, struct node, link));
		frozen_key_add_text(k, g->node.name);
		frozen_key_add(k, &g->attr, sizeof g->attr);
		k->has_failed |= g->node.kept != NULL; // its address alone is not enough
	}
}

static const struct save_kind storage_kind = { STORAGE_DEPTH, storage_object, storage_key };

struct json_object *save_storage(struct save *s, struct node *n)
{
	if (n->class != &storage_class)
		return json_object_get(n->kept);
	return save_object(s, &storage_kind, n);
}
