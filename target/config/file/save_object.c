// SPDX-License-Identifier: BSD-2-Clause
// The entry of a node in the saved file, from the description of its class. The texts of numerous
// objects are kept while they do not change.
#include <stdlib.h>
#include <string.h>

#include "target/config/file/saved.h"
#include "target/config/tree/settings.h"

enum { OWN_DEPTH = 3 };

static void append(struct json_object *to, struct json_object *list)
{
	json_each (entry, list)
		json_object_array_add(to, json_object_get(entry));
}

void save_merge(struct json_object *to, struct json_object *kept)
{
	if (!kept)
		return;
	json_object_object_foreach(kept, key, value)
	{
		struct json_object *there = json_field(to, key);
		if (!there)
			json_object_object_add(to, key, json_object_get(value));
		else if (json_object_is_type(there, json_type_object) &&
			 json_object_is_type(value, json_type_object))
			save_merge(there, value);
		else if (json_object_is_type(there, json_type_array) &&
			 json_object_is_type(value, json_type_array))
			append(there, value);
	}
}

// ---- our own section ----

static struct json_object *own_of(struct save *s, const struct group_row *g, const struct node *n)
{
	char path[600];
	node_path(n, path, sizeof path);
	struct json_object *own = json_part(s->objects, path);
	return g->name ? json_part(own, g->name) : own;
}

// ---- values ----

static struct json_object *value(const struct group_row *g, const struct attr_row *row,
				 const char *text)
{
	if (g->form == SAVED_NUMBERS)
		return json_number_or_text(text);
	if (g->form == SAVED_STRINGS || row->type == ATTR_STRING || row->type == ATTR_ENUM)
		return json_object_new_string(text);
	if (row->type == ATTR_BOOL)
		return json_object_new_boolean(is_yes(text));
	return row->type == ATTR_UINT64 ? json_object_new_uint64(strtoull(text, NULL, 10))
					: json_object_new_int64(atoll(text));
}

static bool is_default(const struct attr_row *row, const char *text)
{
	const char *absent = row->default_text ? row->default_text : "";
	if (row->type == ATTR_BOOL && *text && *absent)
		return is_yes(text) == is_yes(absent);
	return !strcmp(text, absent);
}

// A setting without effect that only other programs' files have is among the kept keys.
static bool is_saved(const struct group_row *g, const struct attr_row *row)
{
	return row->flags & ATTR_GIVEN ||
	       !(row->flags & ATTR_READONLY || (g->set && row->flags & ATTR_IGNORED));
}

static void put_row(struct save *s, const struct group_row *g, struct node *n,
		    const struct attr_row *row, struct json_object *o)
{
	char text[1024], key[80];
	bool is_own = saved_is_own(g, n, row);
	const char *name = is_own ? row->name : group_key(g, row, key);
	group_get(g, n, row, text, sizeof text);
	if ((is_own || row->flags & ATTR_SPARSE) && is_default(row, text))
		return;
	if (is_own)
		json_object_object_add(own_of(s, g, n), name, value(g, row, text));
	else if (!json_has(g->part ? json_field(n->kept, g->part) : n->kept, name, NULL))
		json_object_object_add(g->part ? json_part(o, g->part) : o, name,
				       value(g, row, text)); // else an invalid one continues
	explicit_bzero(text, sizeof text);
}

void save_group(struct save *s, const struct group_row *g, struct node *n, struct json_object *to)
{
	for (const struct attr_row *row = saved_rows(g, n); row->name; row++)
		if (is_saved(g, row))
			put_row(s, g, n, row, to);
}

// ---- texts of equal objects ----

static struct save_memo *memo_of(struct save *s, const void *of)
{
	size_t i = 0, last = sizeof s->memos / sizeof *s->memos - 1;
	while (i < last && s->memos[i].of && s->memos[i].of != of)
		i++;
	if (s->memos[i].of != of) {
		json_object_put(s->memos[i].text);
		s->memos[i].text = NULL;
		s->memos[i].of = of;
	}
	return &s->memos[i];
}

// The last text for equal sources; else NULL, and memorize() must follow.
static struct json_object *recall(struct save *s, struct save_memo *m)
{
	struct frozen_key *key = &s->inner;
	if (m->text && frozen_key_is(key, m->key.bytes.text, m->key.bytes.len))
		return json_object_get(m->text);
	struct frozen_key old = m->key;
	m->key = *key;
	*key = old;
	json_object_put(m->text);
	m->text = NULL;
	return NULL;
}

// Takes ownership of made, and returns its text.
static struct json_object *memorize(struct save_memo *m, struct json_object *made, int depth)
{
	m->text = m->key.bytes.has_failed ? NULL : json_frozen(made, depth);
	if (!m->text)
		return made;
	json_object_put(made);
	return json_object_get(m->text);
}

void save_done(struct save *s)
{
	frozen_key_done(&s->key);
	frozen_key_done(&s->inner);
	for (size_t i = 0; i < sizeof s->memos / sizeof *s->memos; i++) {
		frozen_key_done(&s->memos[i].key);
		json_object_put(s->memos[i].text);
	}
}

// ---- objects ----

static struct json_object *make(struct save *s, struct node *n);

static struct json_object *entries(struct save *s, struct node *n, const struct saved_class *k)
{
	struct json_object *list = json_object_new_array();
	struct node *folder = saved_folder(s->c, n, k);
	if (!folder)
		return list;
	list_each (struct node, entry, &folder->children, link)
		json_object_array_add(list, save_object(s, entry));
	return list;
}

// A group whose values are in a part of their own is the same in most objects.
static void put_group(struct save *s, const struct group_row *g, struct node *n,
		      struct json_object *o)
{
	bool is_plain = s->has_texts && n->class->saved->depth && g->part && g->size && !g->get &&
			!json_field(n->kept, g->part);
	if (!is_plain) {
		save_group(s, g, n, o);
		return;
	}
	struct save_memo *m = memo_of(s, g);
	const struct node *type = g->is_own ? n->parent : NULL;
	frozen_key_begin(&s->inner);
	frozen_key_add(&s->inner, group_memory(g, n), g->size);
	frozen_key_add(&s->inner, &type, sizeof type);
	struct json_object *text = recall(s, m);
	if (!text) {
		char path[600];
		save_group(s, g, n, o);
		node_path(n, path, sizeof path);
		struct json_object *made = json_field(o, g->part);
		if (!made || json_field(json_field(s->objects, path), g->name))
			return;
		text = memorize(m, json_object_get(made), n->class->saved->depth + 1);
	}
	json_object_object_add(o, g->part, text);
}

// Fields, groups and lists.
static void put_content(struct save *s, struct node *n, struct json_object *o)
{
	const struct saved_class *k = n->class->saved;
	saved_each_group(g, n->class) put_group(s, g, n, o);
	for (const struct node_class *const *l = k->lists; l && *l; l++)
		json_object_object_add(o, (*l)->saved->list, entries(s, n, (*l)->saved));
}

// One node, but two objects in the file, with kept keys of each.
static struct json_object *put_only_entry(struct save *s, struct node *n, struct json_object *o)
{
	const char *list_key = n->class->saved->entries;
	struct json_object *list = json_list(o, list_key), *entry = json_add_object(list);
	struct json_object *rest = json_object_new_object();
	json_put_number(entry, "tag", 1); // as rtslib does
	json_list(entry, "portals");
	put_content(s, n, entry);
	if (n->kept) {
		json_object_object_foreach(n->kept, key, v)
		{
			if (!strcmp(key, list_key))
				append(list, v);
			else if (strcmp(key, SAVED_TARGET))
				json_object_object_add(rest, key, json_object_get(v));
		}
	}
	save_merge(entry, rest);
	json_object_put(rest);
	save_merge(o, json_field(n->kept, SAVED_TARGET));
	return o;
}

static struct json_object *make(struct save *s, struct node *n)
{
	const struct saved_class *k = n->class->saved;
	struct json_object *o = json_object_new_object();
	char ids[2][SAVED_NAME_SIZE];
	saved_ids(n, ids);
	for (int i = 0; i < 2 && k->id[i]; i++) {
		bool is_number = k->is_numbered && (i || !k->id[1]);
		json_object_object_add(o, k->id[i],
				       is_number ? json_object_new_int64(atoll(ids[i]))
						 : json_object_new_string(ids[i]));
	}
	if (k->entries)
		return put_only_entry(s, n, o);
	put_content(s, n, o);
	save_merge(o, n->kept);
	return o;
}

// Everything that the entry depends on, except its name and its kept keys.
static void add_key(struct frozen_key *key, struct node *n)
{
	saved_each_group(g, n->class)
	{
		char text[1024];
		if (g->size && !g->get)
			frozen_key_add(key, group_memory(g, n), g->size);
		if (g->key)
			g->key(key, n);
		for (const struct attr_row *row = saved_rows(g, n); g->get && !g->key && row->name;
		     row++) {
			group_get(g, n, row, text, sizeof text);
			frozen_key_add_text(key, text);
		}
	}
	if (n->class->saved->key)
		n->class->saved->key(key, n);
}

static struct json_object *alike(struct save *s, struct node *n)
{
	struct save_memo *m = memo_of(s, n->class);
	frozen_key_begin(&s->inner);
	frozen_key_add_text(&s->inner, n->name);
	add_key(&s->inner, n);
	struct json_object *text = recall(s, m);
	return text ? text : memorize(m, make(s, n), n->class->saved->depth);
}

static struct json_object *reuse(struct save *s, const struct node *n)
{
	char path[600];
	if (n->frozen->own) {
		node_path(n, path, sizeof path);
		json_object_object_add(s->objects, path, json_object_get(n->frozen->own));
	}
	return json_object_get(n->frozen->value);
}

static struct json_object *keep(struct save *s, struct node *n, struct json_object *o)
{
	char path[600];
	node_path(n, path, sizeof path);
	struct json_object *own = json_field(s->objects, path);
	n->frozen =
		frozen_new(&s->key, n->kept, o, n->class->saved->depth, own, own ? OWN_DEPTH : 0);
	if (!n->frozen)
		return o;
	json_object_put(o);
	return reuse(s, n);
}

struct json_object *save_object(struct save *s, struct node *n)
{
	const struct saved_class *k = n->class->saved;
	if (!k)
		return json_object_get(n->kept);
	if (!s->has_texts || !k->depth || (k->is_alike && n->kept))
		return make(s, n);
	if (k->is_alike)
		return alike(s, n);
	frozen_key_begin(&s->key);
	add_key(&s->key, n);
	if (frozen_is(n->frozen, &s->key, n->kept))
		return reuse(s, n);
	frozen_free(n->frozen);
	config_work.texts++;
	return keep(s, n, make(s, n));
}
