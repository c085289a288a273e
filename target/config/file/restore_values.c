// SPDX-License-Identifier: BSD-2-Clause
// The values of an object of a document: known ones are set, unknown content is kept and reported
// once.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/utf8.h"
#include "target/config/file/restore.h"
#include "target/config/tree/settings.h"

enum { LINE_MAX_BYTES = 400 };

// The root has no name.
static const char *line_of(char line[LINE_MAX_BYTES], const char *fmt, va_list ap)
{
	vsnprintf(line, LINE_MAX_BYTES, fmt, ap);
	utf8_tame(line);
	return strncmp(line, ": ", 2) ? line : line + 2;
}

void restore_complain(struct restore *r, const char *fmt, ...)
{
	char line[LINE_MAX_BYTES];
	va_list ap;
	va_start(ap, fmt);
	json_add_text(r->errors, line_of(line, fmt, ap));
	va_end(ap);
}

void restore_complain_invalid(struct restore *r, const struct node *n, const char *key,
			      const char *value, const char *fmt, ...)
{
	char line[LINE_MAX_BYTES], path[600], what[1200];
	va_list ap;
	va_start(ap, fmt);
	const char *text = line_of(line, fmt, ap);
	va_end(ap);
	node_path(n, path, sizeof path);
	snprintf(what, sizeof what, "%s %s %s", path, key, value);
	if (r->options->invalid)
		json_put_text(r->options->invalid, what, text);
	restore_complain(r, "%s, kept without effect", text);
}

static struct json_object *kept_of(struct node *n)
{
	if (!n->kept)
		n->kept = json_object_new_object();
	return n->kept;
}

void restore_keep(struct node *n, const char *key, struct json_object *value)
{
	json_object_object_add(kept_of(n), key, json_object_get(value));
}

static void restore_keep_in(struct node *n, const char *part, const char *key,
			    struct json_object *value)
{
	json_object_object_add(json_part(kept_of(n), part), key, json_object_get(value));
}

void restore_keep_entry(struct node *n, const char *key, struct json_object *entry)
{
	struct json_object *list = json_list(kept_of(n), key);
	// Reading what was kept before: no duplicates.
	json_each (kept, list)
		if (json_object_equal(kept, entry))
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
	struct json_object *told = json_part(r->told, what);
	if (json_object_object_get_ex(told, key, NULL))
		return;
	json_put_bool(told, key, true);
	restore_complain(r, "%s: unknown %s '%.60s', kept", where, what, key);
}

static bool is_of_group(const struct group_row *g, const struct node *n, const char *key)
{
	char text[80];
	if (g->part)
		return !strcmp(g->part, key);
	for (const struct attr_row *row = saved_rows(g, n); row->name; row++)
		if ((g->node_rows || !saved_is_own(g, n, row)) &&
		    !strcmp(group_key(g, row, text), key))
			return true;
	return false;
}

static bool is_in(const char *const *list, const char *key)
{
	for (; list && *list; list++)
		if (!strcmp(*list, key))
			return true;
	return false;
}

static bool is_known(const struct node *n, const char *key)
{
	const struct saved_class *k = n->class->saved;
	for (int i = 0; i < 2 && k->id[i] && !k->entries; i++) // else they are one object above
		if (!strcmp(k->id[i], key))
			return true;
	for (const struct node_class *const *l = k->lists; l && *l; l++)
		if (!strcmp((*l)->saved->list, key))
			return true;
	saved_each_group(g, n->class) if (is_of_group(g, n, key)) return true;
	return is_in(k->ignored, key);
}

void restore_keep_unknown(struct restore *r, struct node *n, struct json_object *o)
{
	const char *what = n->class->saved->unknown;
	json_object_object_foreach(o, key, value)
	{
		if (is_known(n, key))
			continue;
		restore_tell_unknown(r, what ? what : "key", key,
				     what ? n->parent->parent->name : n->name);
		restore_keep(n, key, value);
	}
}

struct json_object *restore_own_section(struct restore *r, const struct node *n)
{
	char path[600];
	node_path(n, path, sizeof path);
	return json_field(r->objects, path);
}

static bool is_read(const struct group_row *g, const struct attr_row *row)
{
	return g->size && !(row->flags & (ATTR_READONLY | ATTR_GIVEN));
}

static bool set_value(struct restore *r, const struct group_row *g, struct node *n,
		      const struct attr_row *row, const char *text)
{
	struct err e = { 0 };
	bool is_part = n->class->saved->unknown; // reported as a part of the node above
	if (!text)
		err_set(&e, -EINVAL, "%s: not a %s", row->name,
			g->form != SAVED_TYPED	 ? "scalar value"
			: row->type == ATTR_BOOL ? "boolean"
						 : "string");
	else if (!group_set(g, n, row, text, &e))
		return true;
	restore_complain_invalid(r, n, row->name, text ? text : "", "%s%s%s: %s",
				 is_part ? n->parent->parent->name : "", is_part ? ": " : "",
				 n->name, e.text);
	return false;
}

// The values of a part, in which rtslib may have others, too.
static void set_part(struct restore *r, const struct group_row *g, struct node *n,
		     struct json_object *values, bool is_own)
{
	if (!json_object_is_type(values, json_type_object)) {
		if (values)
			restore_complain(r, "%s: '%s' is not an object, ignored", n->name,
					 is_own ? g->name : g->part);
		return;
	}
	json_object_object_foreach(values, key, value)
	{
		const struct attr_row *row = attr_find(group_rows(g), key);
		if (!row)
			restore_tell_unknown(r, g->name, key, n->name);
		else if (is_read(g, row) && set_value(r, g, n, row, json_scalar(value))) {
			struct json_object *kept = json_field(n->kept, g->part);
			if (kept && !(row->flags & ATTR_IGNORED)) // those are only kept
				json_object_object_del(kept, key);
			continue;
		}
		if (!is_own)
			restore_keep_in(n, g->part, key, value);
	}
}

static bool is_number(const struct attr_row *row)
{
	return row->type == ATTR_UINT || row->type == ATTR_UINT64 || row->type == ATTR_INT;
}

static bool is_typed_as(const struct attr_row *row, struct json_object *value)
{
	if (row->type != ATTR_BOOL)
		return json_object_is_type(value, json_type_string);
	return json_object_is_type(value, json_type_boolean) ||
	       json_object_is_type(value, json_type_int); // some write 0 and 1
}

// A value by the type of its row. False: there is nothing to set. *ret is NULL if the type is
// wrong.
static bool typed_text(const struct attr_row *row, struct json_object *value, const char **ret)
{
	*ret = NULL;
	if (!value || is_number(row))
		return false;
	if (!is_typed_as(row, value))
		return true;
	if (row->type == ATTR_BOOL)
		*ret = json_object_get_boolean(value) ? "1" : "0";
	else
		*ret = json_object_get_string(value);
	// Absent, such a value would be generated.
	return **ret || row->flags & ATTR_GENERATED;
}

// Those that are keys of the node's object.
static void set_rows(struct restore *r, const struct group_row *g, struct node *n,
		     struct json_object *o)
{
	struct json_object *own = g->name ? json_field(restore_own_section(r, n), g->name) : NULL;
	for (const struct attr_row *row = saved_rows(g, n); g->size && row->name; row++) {
		char key[80];
		bool is_own = saved_is_own(g, n, row);
		const char *name = is_own ? row->name : group_key(g, row, key), *text;
		struct json_object *v = NULL;
		if (!json_has(is_own ? own : o, name, &v) || !is_read(g, row))
			continue;
		if (g->form != SAVED_TYPED)
			text = json_scalar(v);
		else if (!typed_text(row, v, &text))
			continue;
		bool is_set = set_value(r, g, n, row, text);
		if (!is_set && !is_own)
			restore_keep(n, name, v);
		else if (!is_own && n->kept)
			json_object_object_del(n->kept, name);
	}
}

// ---- changes of an existing object ----

static void set_defaults(const struct group_row *g, struct node *n)
{
	const uint32_t others = ATTR_READONLY | ATTR_GIVEN | ATTR_GENERATED;
	for (const struct attr_row *row = group_rows(g); row->name; row++)
		if (!(row->flags & others) && !(g->set && row->flags & ATTR_IGNORED))
			group_set(g, n, row, row->default_text ? row->default_text : "", NULL);
}

// A value that the running object refuses is not changed.
static void apply_row(struct restore *r, const struct group_row *g, struct node *n,
		      const struct attr_row *row, void *before, bool *ret_restarts)
{
	char old[1024], text[1024];
	struct err e = { 0 };
	attr_get(row, before, old, sizeof old);
	attr_get(row, group_base(g, n), text, sizeof text);
	if (!strcmp(old, text))
		return;
	if (group_apply(r->c, g, n, row, old, &e) < 0) {
		restore_complain(r, "%s: %s", n->name, e.text);
		attr_set(row, group_base(g, n), old, NULL);
		return;
	}
	*ret_restarts |= group_restarts(row);
}

// Checks the values and applies the differences from before to the running object.
static void apply_group(struct restore *r, const struct group_row *g, struct node *n, void *before)
{
	struct err e = { 0 };
	bool restarts = false;
	char *now = group_memory(g, n), *then = (char *)before + g->offset;
	if (g->part && g->check && g->check(r->c, n, &e) < 0) {
		restore_complain(r, "%s: %s", n->name, e.text);
		memcpy(now, then, g->size);
	}
	for (const struct attr_row *row = group_rows(g);
	     row->name && g->apply && !r->options->is_dry; row++)
		if (!(row->flags & ATTR_READONLY))
			apply_row(r, g, n, row, before, &restarts);
	if (!memcmp(now, then, g->size))
		return;
	tree_changed(r->c, n);
	if (txn_was(r->c, now, then, g->size) < 0 ||
	    (restarts && g->restart && g->restart(r->c, n) < 0))
		restore_complain(r, "%s: out of memory", n->name);
}

void restore_group(struct restore *r, struct node *n, const struct group_row *g,
		   struct json_object *o, bool is_old)
{
	bool has_before = g->size && (is_old || (r->options->is_apply && g->part));
	void *before = has_before ? group_copy(g, n) : NULL;
	if (has_before && !before)
		restore_complain(r, "%s: out of memory", n->name);
	// Only a file saved by farblock contains all values that differ from the defaults.
	if (g->size && (g->is_whole || (before && r->is_exact)))
		set_defaults(g, n);
	if (g->part) {
		set_part(r, g, n, json_field(o, g->part), false);
		set_part(r, g, n, json_field(restore_own_section(r, n), g->name), true);
	} else {
		set_rows(r, g, n, o);
	}
	if (!before)
		return;
	apply_group(r, g, n, before);
	group_copy_free(g, before);
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
