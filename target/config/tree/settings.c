// SPDX-License-Identifier: BSD-2-Clause
// Groups of settings: the get and set of every node, by the rows of its class. Control thread.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "target/config/tree/settings.h"
#include "target/config/tree/names.h"

#define MASK "********"

const struct group_row *group_find(const struct node_class *class, const char *name)
{
	for (const struct group_row *g = class->groups; g && g->name; g++)
		if (!strcmp(g->name, name))
			return g;
	return NULL;
}

const struct attr_row *group_rows(const struct group_row *g)
{
	return g->rows ? g->rows : g->get_rows();
}

const char *group_key(const struct group_row *g, const struct attr_row *row, char out[80])
{
	const char *name = row->saved ? row->saved : row->name;
	if (!g->prefix)
		return name;
	snprintf(out, 80, "%s%s", g->prefix, name);
	return out;
}

void *group_base(const struct group_row *g, struct node *n)
{
	return (char *)n + g->at;
}

char *group_memory(const struct group_row *g, struct node *n)
{
	return (char *)group_base(g, n) + g->offset;
}

void *group_copy(const struct group_row *g, struct node *n)
{
	void *copy = malloc(g->offset + g->size);
	return copy ? memcpy(copy, group_base(g, n), g->offset + g->size) : NULL;
}

void group_copy_free(const struct group_row *g, void *copy)
{
	if (copy)
		explicit_bzero(copy, g->offset + g->size);
	free(copy);
}

size_t group_get(const struct group_row *g, struct node *n, const struct attr_row *row, char *out,
		 size_t size)
{
	return g->get ? g->get(n, row, out, size) : attr_get(row, group_base(g, n), out, size);
}

int group_set(const struct group_row *g, struct node *n, const struct attr_row *row,
	      const char *text, struct err *e)
{
	return g->set ? g->set(n, row, text, e) : attr_set(row, group_base(g, n), text, e);
}

// targetcli's users may use a group of the node below.
static const struct group_row *no_such_group(const struct node *n, const char *name, struct err *e)
{
	char hint[600] = "";
	list_each (const struct node, child, &n->children, link)
		if (!*hint && group_find(child->class, name))
			node_hint(child, hint, sizeof hint);
	err_set(e, -ENOENT, "Unknown configuration group: %.60s%s", name, hint);
	return NULL;
}

// The root's group is available at every node; *n becomes the node with the group.
static const struct group_row *want_group(struct config *c, struct node **n, const char *name,
					  struct err *e)
{
	const struct group_row *g = group_find((*n)->class, name);
	if (g)
		return g;
	g = group_find(c->root.class, name);
	if (!g)
		return no_such_group(*n, name, e);
	*n = &c->root;
	return g;
}

static const struct attr_row *want_row(const struct group_row *g, const char *name, struct err *e)
{
	const struct attr_row *row = attr_find(group_rows(g), name);
	if (!row)
		err_set(e, -ENOENT, "Unknown parameter %.60s in group '%s'.", name, g->name);
	return row;
}

// ---- settings that are accepted for compatibility with targetcli but have no effect ----

// Why the setting never has an effect; NULL: it has.
static const char *no_effect_here(const struct attr_row *row)
{
	return row->no_effect || !(row->flags & ATTR_IGNORED) ? row->no_effect
							      : "it belongs to the kernel's target";
}

// Why the setting with value text has no effect; NULL: it has, or is the default.
static const char *no_effect(const struct node *n, const struct attr_row *row, const char *text)
{
	if (!strcasecmp(text, row->default_text ? row->default_text : ""))
		return NULL;
	const char *why = no_effect_here(row);
	return why || !n->class->no_effect ? why : n->class->no_effect(n, row);
}

// ---- rows as JSON ----

// "a|b|c", in the form of command parameters.
static void put_choices(struct json_object *o, const char *const *words)
{
	char text[256] = "";
	size_t used = 0;
	for (; *words && used < sizeof text; words++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? "|" : "",
					 *words);
	json_put_text(o, "choices", text);
}

static void put_help(struct json_object *o, const struct attr_row *row)
{
	char text[400];
	const char *why = no_effect_here(row);
	snprintf(text, sizeof text, "%s%s%s%s", row->help, why ? " (no effect: " : "",
		 why ? why : "", why ? ")" : "");
	json_put_text(o, "help", text);
}

static struct json_object *row_schema(const struct group_row *g, const struct attr_row *row)
{
	static const char *const types[] = {
		[ATTR_BOOL] = "bool",  [ATTR_UINT] = "number", [ATTR_UINT64] = "number",
		[ATTR_INT] = "number", [ATTR_ENUM] = "choice", [ATTR_STRING] = "string",
	};
	struct json_object *o = json_object_new_object();
	char range[256];
	const char *absent = row->default_text;
	bool is_worded = g->is_worded && row->type == ATTR_BOOL;
	if (is_worded)
		absent = *absent == '1' ? "true" : "false";
	attr_range(row, range, sizeof range);
	json_put_text(o, "name", row->name);
	json_put_text(o, "type", row->flags & ATTR_NAME ? "name" : types[row->type]);
	json_put_text(o, "range", range);
	json_put_text(o, "default", absent);
	json_put_text(o, "unit", row->unit);
	put_help(o, row);
	if (row->type == ATTR_STRING && row->choices)
		put_choices(o, row->choices);
	if (row->flags & ATTR_READONLY)
		json_put_bool(o, "readonly", true);
	if (row->flags & ATTR_RESTART)
		json_put_bool(o, "needs_restart", true);
	if (row->flags & ATTR_SECRET)
		json_put_bool(o, "secret", true);
	if (row->flags & ATTR_IGNORED)
		json_put_bool(o, "ignored", true);
	return o;
}

struct json_object *group_schema(const struct group_row *g)
{
	struct json_object *list = json_object_new_array();
	for (const struct attr_row *row = group_rows(g); row->name; row++)
		json_object_array_add(list, row_schema(g, row));
	return list;
}

static void add_value(struct json_object *list, const struct group_row *g, struct node *n,
		      const struct attr_row *row)
{
	char text[1024];
	struct json_object *o = row_schema(g, row);
	if (g->show)
		g->show(n, row, text, sizeof text);
	else
		group_get(g, n, row, text, sizeof text);
	json_put_text(o, "value", row->flags & ATTR_SECRET && *text ? MASK : text);
	explicit_bzero(text, sizeof text);
	json_object_array_add(list, o);
}

// get [group] [name]: rows with their values; without a group the names of the groups.
int config_get(struct config *c, struct node *n, const struct args *a, struct reply *r,
	       struct err *e)
{
	const char *name = arg(a, "parameter");
	if (!arg(a, "group")) {
		r->data = json_object_new_object();
		struct json_object *list = json_list(r->data, "groups");
		for (const struct group_row *g = n->class->groups; g && g->name; g++)
			json_add_text(list, g->name);
		if (n != &c->root)
			json_add_text(list, c->root.class->groups->name);
		return 0;
	}
	const struct group_row *g = want_group(c, &n, arg(a, "group"), e);
	const struct attr_row *row = g && name ? want_row(g, name, e) : NULL;
	if (!g || (name && !row))
		return -ENOENT;
	r->data = json_object_new_object();
	json_put_text(r->data, "group", g->name);
	struct json_object *list = json_list(r->data, "rows");
	for (const struct attr_row *it = row ? row : group_rows(g); it->name; it++) {
		add_value(list, g, n, it);
		if (row)
			break;
	}
	return 0;
}

int group_apply(struct config *c, const struct group_row *g, struct node *n,
		const struct attr_row *row, const char *old, struct err *e)
{
	char text[1024];
	if (!g->apply)
		return 0;
	group_get(g, n, row, text, sizeof text);
	int r = g->apply(c, n, row, text, e);
	if (!r && txn_applied(c, n, g, row, old) < 0) {
		g->apply(c, n, row, old, NULL);
		r = err_set(e, -ENOMEM, "%s: out of memory", row->name);
	}
	return r;
}

// A secret to generate.
static bool is_wish(const struct attr_row *row, const char *text)
{
	return row->flags & ATTR_SECRET && !strcmp(text, "+");
}

static int set_made_up(const struct group_row *g, struct node *n, const struct attr_row *row,
		       struct err *e)
{
	char secret[NAME_SECRET_SIZE];
	name_new_secret(secret);
	int r = group_set(g, n, row, secret, e);
	explicit_bzero(secret, sizeof secret);
	return r;
}

int settings_forget(struct config *c, struct node *n, const char *part, const char *key,
		    struct err *e)
{
	if (!json_has(part ? json_field(n->kept, part) : n->kept, key, NULL))
		return 0;
	if (txn_kept(c, n, true) < 0)
		return err_set(e, -ENOMEM, "%s: out of memory", key);
	json_object_object_del(part ? json_field(n->kept, part) : n->kept, key);
	return 0;
}

int settings_forget_all(struct config *c, struct node *n, struct err *e)
{
	int r = 0;
	for (const struct group_row *g = n->class->groups; !r && g && g->name; g++) {
		char text[80];
		if (g->part)
			r = settings_forget(c, n, NULL, g->part, e);
		for (const struct attr_row *row = group_rows(g);
		     !r && g->form && !g->part && row->name; row++)
			r = settings_forget(c, n, NULL, group_key(g, row, text), e);
	}
	return r;
}

// Setting a value replaces an invalid one of the saved file.
static int forget_kept(struct config *c, const struct group_row *g, struct node *n,
		       const struct attr_row *row, struct err *e)
{
	char text[80];
	bool is_only_kept = g->set && row->flags & ATTR_IGNORED; // by the group's set
	if (!g->form)
		return 0;
	if (is_only_kept && txn_kept(c, n, true) < 0)
		return err_set(e, -ENOMEM, "%s: out of memory", row->name);
	return settings_forget(c, n, g->part, g->part ? row->name : group_key(g, row, text), e);
}

// Sets one value.
static int set_one(struct config *c, const struct group_row *g, struct node *n, const char *name,
		   const char *text, struct err *e)
{
	const struct attr_row *row = want_row(g, name, e);
	if (!row)
		return -ENOENT;
	if (row->flags & ATTR_READONLY)
		return err_set(e, -EPERM, "Parameter %s is read-only.", name);
	if (!text)
		return err_set(e, -EINVAL, "%s: not a string, number or boolean", name);
	int r = forget_kept(c, g, n, row, e);
	if (r < 0)
		return r;
	return is_wish(row, text) ? set_made_up(g, n, row, e) : group_set(g, n, row, text, e);
}

bool group_restarts(const struct attr_row *row)
{
	return row->flags & ATTR_RESTART && !(row->flags & ATTR_IGNORED);
}

static void say_values(const struct group_row *g, struct node *n, struct json_object *values,
		       struct reply *r)
{
	json_object_object_foreach(values, name, value)
	{
		const struct attr_row *row = attr_find(group_rows(g), name);
		bool is_made_up = is_wish(row, json_scalar(value));
		bool is_hidden = row->flags & ATTR_SECRET && !is_made_up;
		char text[1024];
		group_get(g, n, row, text, sizeof text);
		reply_say(r, "Parameter %s is now '%s'%s.", name, is_hidden && *text ? MASK : text,
			  is_made_up ? ", generated and shown only now" : "");
		const char *why = no_effect(n, row, text);
		if (why)
			reply_say(r, "Warning: %s is saved but has no effect: %s.", name, why);
		if (row->flags & ATTR_SECRET && *text && (int64_t)strlen(text) < row->min)
			reply_say(r,
				  "Warning: %s is shorter than the %d characters required by RFC "
				  "7143.",
				  name, (int)row->min);
		r->has_secret |= is_made_up;
		explicit_bzero(text, sizeof text);
	}
}

// Sets all values, checks the result, then applies it to the running objects: if one is invalid,
// nothing has changed.
int config_set(struct config *c, struct node *n, const char *group, struct json_object *values,
	       struct reply *r, struct err *e)
{
	const struct group_row *g = want_group(c, &n, group, e);
	if (!g)
		return -ENOENT;
	char *before = group_copy(g, n);
	int code = before ? txn_memory(c, group_memory(g, n), g->size) : -ENOMEM;
	bool restarts = false;
	json_object_object_foreach(values, name, value)
	{
		if (!code)
			code = set_one(c, g, n, name, json_scalar(value), e);
	}
	if (!code && g->check)
		code = g->check(c, n, e);
	json_object_object_foreach(values, key, unused)
	{
		(void)unused;
		const struct attr_row *row = attr_find(group_rows(g), key);
		char old[1024] = "";
		if (!code && !g->get && row)
			attr_get(row, before, old, sizeof old);
		if (!code && row)
			code = group_apply(c, g, n, row, old, e);
		restarts |= row && group_restarts(row);
		explicit_bzero(old, sizeof old);
	}
	group_copy_free(g, before);
	if (!code && g->restart && restarts)
		code = g->restart(c, n);
	if (!code)
		tree_changed(c, n);
	if (!code && r)
		say_values(g, n, values, r);
	if (!code && r && n->class->warn)
		n->class->warn(n, g, values, r);
	return code;
}
