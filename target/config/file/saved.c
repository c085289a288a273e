// SPDX-License-Identifier: BSD-2-Clause
// Names of objects and values in the saved file.

#include <stdio.h>
#include <string.h>

#include "target/config/file/saved.h"
#include "target/config/tree/settings.h"

const char *const saved_lists[SAVED_LISTS] = { "storage_objects", "targets", "fabric_modules" };

const struct node_class *saved_class_of(const struct config *c, const char *list)
{
	for (const struct node_class *const *class = c->classes; *class; class ++)
		if ((*class)->saved && (*class)->saved->list &&
		    !strcmp((*class)->saved->list, list))
			return *class;
	return NULL;
}

bool saved_is_fabric(const struct node *n)
{
	const struct saved_class *k = n->class->saved;
	return k && k->list && !strcmp(k->list, "fabric_modules");
}

void saved_ids(const struct node *n, char ids[2][SAVED_NAME_SIZE])
{
	const struct saved_class *k = n->class->saved;
	const char *name = n->name + (k->prefix ? strlen(k->prefix) : 0);
	ids[1][0] = 0;
	if (k->between && !strcmp(k->between, "/")) {
		snprintf(ids[0], SAVED_NAME_SIZE, "%s", n->parent->name);
		snprintf(ids[1], SAVED_NAME_SIZE, "%s", name);
		return;
	}
	const char *end = k->between ? strrchr(name, *k->between) : NULL;
	int len = end ? (int)(end - name) : (int)strlen(name);
	snprintf(ids[0], SAVED_NAME_SIZE, "%.*s", len, name);
	if (end)
		snprintf(ids[1], SAVED_NAME_SIZE, "%s", end + strlen(k->between));
}

// An SRP target is its portal group: one node.
static bool is_group_of_srpt(const struct saved_class *k, const char *path)
{
	return !strcmp(k->list, "tpgs") && !strncmp(path, "/srpt/", strlen("/srpt/"));
}

void saved_path(const struct saved_class *k, const char *path, struct json_object *o,
		char out[SAVED_PATH_SIZE])
{
	const char *a = json_scalar(json_field(o, k->id[0]));
	const char *b = k->id[1] ? json_scalar(json_field(o, k->id[1])) : "";
	const char *above = k->above ? k->above : "", *prefix = k->prefix ? k->prefix : "";
	*out = 0;
	if (a && b && is_group_of_srpt(k, path))
		snprintf(out, SAVED_PATH_SIZE, "%s", path);
	else if (a && b)
		snprintf(out, SAVED_PATH_SIZE, "%.600s%s%s%s/%s%.250s%s%.250s", path, above,
			 k->folder ? "/" : "", k->folder ? k->folder : "", prefix, a,
			 k->between ? k->between : "", b);
}

struct node *saved_folder(struct config *c, struct node *n, const struct saved_class *k)
{
	return k->folder ? node_child(&c->names, n, k->folder) : n;
}

const struct group_row *saved_next_group(const struct node_class *class, const struct group_row *g)
{
	const struct group_row *fields = class->saved->fields, *groups = class->groups;
	bool is_field = false;
	for (const struct group_row *f = fields; g && f && f->form; f++)
		is_field |= f == g;
	if (!g && fields && fields->form)
		return fields;
	if (is_field && g[1].form)
		return g + 1;
	g = !g || is_field ? groups : g + 1;
	while (g && g->name && !g->form)
		g++;
	return g && g->name ? g : NULL;
}

const struct attr_row *saved_rows(const struct group_row *g, const struct node *n)
{
	return g->node_rows ? g->node_rows(n) : group_rows(g);
}

bool saved_is_own(const struct group_row *g, const struct node *n, const struct attr_row *row)
{
	return g->is_own ? g->is_own(n, row) : row->flags & ATTR_OWN;
}

static bool is_secret_of(const struct group_row *g, const char *key)
{
	char text[80];
	for (const struct attr_row *row = g->node_rows ? NULL : group_rows(g); row && row->name;
	     row++)
		if (row->flags & ATTR_SECRET &&
		    (!strcmp(row->name, key) || !strcmp(group_key(g, row, text), key)))
			return true;
	return false;
}

bool saved_is_secret(const struct config *c, const char *key)
{
	for (const struct node_class *const *class = c->classes; *class; class ++)
		if ((*class)->saved)
			saved_each_group(g, *class) if (is_secret_of(g, key)) return true;
	return false;
}
