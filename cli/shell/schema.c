// SPDX-License-Identifier: BSD-2-Clause
#include "cli/shell/schema.h"

#include <string.h>
#include <strings.h>

#include "cli/shell/client.h"
#include "core/suggest.h"

struct json_object *row_find(struct json_object *rows, const char *name)
{
	json_each (row, rows)
		if (!strcmp(text_field(row, "name"), name) ||
		    (*name && !strcmp(text_field(row, "alias"), name)))
			return row;
	return NULL;
}

// In the order of `help`; an entry of an earlier list hides one with the same name of a later list.
static void command_lists(struct json_object *schema, const char *class, struct json_object *ret[3])
{
	struct json_object *here = json_field(json_field(schema, "classes"), class);
	ret[0] = json_field(schema, "shell");
	ret[1] = json_field(here, "commands");
	ret[2] = json_field(schema, "every_node");
}

struct json_object *schema_command(struct json_object *schema, const char *class,
				   const char *command)
{
	struct json_object *lists[3], *found = NULL;
	command_lists(schema, class, lists);
	for (int i = 0; i < 3 && !found; i++)
		found = row_find(lists[i], command);
	return found;
}

void schema_commands(struct json_object *schema, const char *class,
		     void (*fn)(struct json_object *command, void *arg), void *arg)
{
	static const int order[] = { 1, 2, 0 };
	struct json_object *lists[3];
	command_lists(schema, class, lists);
	for (int k = 0; k < 3; k++) {
		json_each (command, lists[order[k]]) {
			const char *name = text_field(command, "name");
			if (*name && (!order[k] || !row_find(lists[0], name)))
				fn(command, arg);
		}
	}
}

// ---- settings ----

void schema_groups(struct json_object *schema, const char *class,
		   void (*fn)(const char *group, struct json_object *rows, void *arg), void *arg)
{
	struct json_object *classes = json_field(schema, "classes");
	struct json_object *own = json_field(json_field(classes, class), "groups");
	struct json_object *all = json_field(schema, "every_node_groups");
	if (json_object_is_type(own, json_type_object)) {
		json_object_object_foreach(own, key, rows) fn(key, rows, arg);
	}
	if (json_object_is_type(all, json_type_object)) {
		json_object_object_foreach(all, key, rows) if (!json_field(own, key))
			fn(key, rows, arg);
	}
}

struct wanted {
	const char *name;
	struct json_object *rows;
};

static void want_group(const char *group, struct json_object *rows, void *arg)
{
	struct wanted *w = arg;
	if (!w->rows && !strcmp(group, w->name) && json_object_is_type(rows, json_type_array))
		w->rows = rows;
}

struct json_object *schema_group(struct json_object *schema, const char *class, const char *group)
{
	struct wanted w = { group, NULL };
	schema_groups(schema, class, want_group, &w);
	return w.rows;
}

// ---- secrets ----

static bool has_secret(struct json_object *rows, const char *name)
{
	json_each (row, rows)
		if (flag_field(row, "secret") && is_near(text_field(row, "name"), name))
			return true;
	return false;
}

// Whether fn returns true for a value of an object.
static bool any_value(struct json_object *o, bool (*fn)(struct json_object *v, const char *name),
		      const char *name)
{
	if (!json_object_is_type(o, json_type_object))
		return false;
	struct json_object_iterator it = json_object_iter_begin(o), end = json_object_iter_end(o);
	for (; !json_object_iter_equal(&it, &end); json_object_iter_next(&it))
		if (fn(json_object_iter_peek_value(&it), name))
			return true;
	return false;
}

static bool class_has_secret(struct json_object *class, const char *name)
{
	return any_value(json_field(class, "groups"), has_secret, name);
}

bool schema_is_secret(struct json_object *schema, const char *name)
{
	return strcasestr(name, "password") || strcasestr(name, "secret") ||
	       !strcasecmp(name, "pass") || !strcasecmp(name, "pwd") || !strcasecmp(name, "pw") ||
	       is_near("password", name) || is_near("mutual_password", name) ||
	       any_value(json_field(schema, "classes"), class_has_secret, name);
}
