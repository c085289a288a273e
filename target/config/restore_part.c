// SPDX-License-Identifier: BSD-2-Clause
// Keeps unknown content, reports it once, and sets known values.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"
#include "target/config/restore.h"

void restore_complain(struct restore *r, const char *fmt, ...)
{
	char line[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	utf8_tame(line);
	// The root has no name.
	const char *text = strncmp(line, ": ", 2) ? line : line + 2;
	json_object_array_add(r->errors, json_object_new_string(text));
}

// Keeps kept[key] = value, or appends to an array of kept entries.
void restore_keep(struct node *n, const char *key, struct json_object *value)
{
	if (!n->kept)
		n->kept = json_object_new_object();
	json_object_object_add(n->kept, key, json_object_get(value));
}

static void restore_keep_in(struct node *n, const char *part, const char *key,
			    struct json_object *value)
{
	if (!n->kept)
		n->kept = json_object_new_object();
	struct json_object *o = json_field(n->kept, part);
	if (!json_object_is_type(o, json_type_object)) {
		o = json_object_new_object();
		json_object_object_add(n->kept, part, o);
	}
	json_object_object_add(o, key, json_object_get(value));
}

void restore_keep_entry(struct node *n, const char *key, struct json_object *entry)
{
	if (!n->kept)
		n->kept = json_object_new_object();
	struct json_object *list = json_field(n->kept, key);
	if (!json_object_is_type(list, json_type_array)) {
		list = json_object_new_array();
		json_object_object_add(n->kept, key, list);
	}
	// Reading what was kept before: no duplicates.
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (json_object_equal(json_object_array_get_idx(list, i), entry))
			return;
	json_object_array_add(list, json_object_get(entry));
}

// Each key once for all objects.
void restore_tell_unknown(struct restore *r, const char *what, const char *key, const char *where)
{
	// Known to rtslib, kept without effect: not reported.
	static const char *const quiet[] = { "aio", "write_back", "exclusive", "exists",
					     "buffered_mode" };
	for (size_t i = 0; i < sizeof quiet / sizeof quiet[0]; i++)
		if (!strcmp(key, quiet[i]))
			return;
	if (map_get(&r->told, what, key))
		return;
	struct json_object *copy = json_object_new_string(key);
	json_object_array_add(r->told_keys, copy);
	map_put(&r->told, what, json_object_get_string(copy), copy);
	restore_complain(r, "%s: unknown %s '%.60s', kept", where, what, key);
}

// Every key of o that is not in known is kept in the node.
void restore_keep_unknown(struct restore *r, struct node *n, struct json_object *o,
			  const char *const *known)
{
	json_object_object_foreach(o, key, value)
	{
		bool is_known = false;
		for (const char *const *k = known; *k; k++)
			is_known |= !strcmp(*k, key);
		if (is_known)
			continue;
		restore_tell_unknown(r, "key", key, n->name);
		restore_keep(n, key, value);
	}
}

struct json_object *restore_own_section(struct restore *r, const struct node *n)
{
	char path[600];
	node_path(n, path, sizeof path);
	return json_field(r->objects, path);
}

static void set_values(struct restore *r, const struct group_row *g, struct node *n,
		       struct json_object *values, const char *part)
{
	if (!json_object_is_type(values, json_type_object))
		return;
	json_object_object_foreach(values, key, value)
	{
		const struct attr_row *row = attr_find(group_rows(g), key);
		const char *text = json_scalar(value);
		struct err e = { 0 };
		bool is_readonly = row && row->flags & ATTR_READONLY;
		if (row && !is_readonly && text && !group_set(g, n, row, text, &e))
			continue;
		if (is_readonly)
			; // read-only: ignore it
		else if (!row)
			restore_tell_unknown(r, g->name, key, n->name);
		else
			restore_complain(r, "%s: %s, kept without effect", n->name,
					 text ? e.text : "not a scalar value");
		if (part)
			restore_keep_in(n, part, key, value);
	}
}

void restore_set_group(struct restore *r, struct node *n, const char *name, struct json_object *o,
		       const char *part)
{
	const struct group_row *g = group_find(n->class, name);
	void *before = restore_refill(r, g, n);
	set_values(r, g, n, json_field(o, part), part);
	set_values(r, g, n, json_field(restore_own_section(r, n), name), NULL);
	restore_refill_end(r, g, n, before);
}

void restore_set_auth(struct restore *r, const struct node *n, struct auth_group *a,
		      struct json_object *o, const char *prefix)
{
	struct json_object *own = json_field(restore_own_section(r, n),
					     n == &r->c->iscsi ? "discovery_auth" : "auth");
	for (const struct attr_row *row = auth_rows; row->name; row++) {
		char key[64];
		struct err e = { 0 };
		snprintf(key, sizeof key, "%s_%s", prefix, row->name);
		const char *text = json_text(row->flags & ATTR_OWN ? own : o,
					     row->flags & ATTR_OWN ? row->name : key);
		if (text && attr_set(row, a, text, &e) < 0)
			restore_complain(r, "%s: %s", n->name, e.text);
	}
}

void restore_each(struct restore *r, struct node *n, void *parent, struct json_object *o,
		  const char *key, restore_entry fn)
{
	struct json_object *list = json_field(o, key);
	if (!list)
		return;
	if (!json_object_is_type(list, json_type_array)) {
		restore_complain(r, "%s: '%s' is not an array, ignored", n->name, key);
		return;
	}
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *entry = json_object_array_get_idx(list, i);
		struct err e = { 0 };
		int code = json_object_is_type(entry, json_type_object)
				   ? fn(r, parent, entry, &e)
				   : err_set(&e, -EINVAL, "not an object");
		if (code < 0) {
			restore_complain(r, "%s: %s[%zu]: %s, kept without effect", n->name, key, i,
					 e.text);
			restore_keep_entry(n, key, entry);
		}
	}
}

int restore_number_field(struct json_object *o, const char *key, int max, struct err *e)
{
	struct json_object *v = json_field(o, key);
	const char *text = json_scalar(v);
	int n = text ? number_of(text, "", max) : -1;
	if (!v)
		return err_set(e, -EINVAL, "missing '%s'", key);
	return n < 0 ? err_set(e, -EINVAL, "'%s' is not a number in 0..%d", key, max) : n;
}
