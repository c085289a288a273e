// SPDX-License-Identifier: BSD-2-Clause
#include "cli/shell/global.h"

#include <stdio.h>
#include <string.h>

#include "cli/shell/client.h"
#include "cli/shell/command.h"
#include "cli/shell/schema.h"
#include "core/json/json.h"

static struct json_object *row_json(const struct attr_row *row, const struct preferences *p)
{
	static const char *const types[] = {
		[ATTR_BOOL] = "bool",
		[ATTR_UINT] = "number",
		[ATTR_ENUM] = "choice",
	};
	struct json_object *o = json_object_new_object();
	char text[160];
	json_put_text(o, "name", row->name);
	json_put_text(o, "type", types[row->type]);
	attr_range(row, text, sizeof text);
	json_put_text(o, "range", text);
	preference_text(row, preferences_default(), text, sizeof text);
	json_put_text(o, "default", text);
	json_put_text(o, "unit", row->unit);
	json_put_text(o, "help", row->help);
	if (row->flags & ATTR_IGNORED)
		json_object_object_add(o, "ignored", json_object_new_boolean(1));
	if (p) {
		preference_text(row, p, text, sizeof text);
		json_put_text(o, "value", text);
	}
	return o;
}

struct json_object *global_rows(const struct preferences *p, const char *name)
{
	struct json_object *list = json_object_new_array();
	for (const struct attr_row *row = preference_rows; row->name; row++)
		if (!name || !strcmp(name, row->name))
			json_object_array_add(list, row_json(row, p));
	if (json_count(list))
		return list;
	json_object_put(list);
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	struct json_object *const *x = a, *const *y = b;
	return strcmp(text_field(*x, "name"), text_field(*y, "name"));
}

void global_merge(struct json_object *rows, const struct preferences *p)
{
	if (!json_object_is_type(rows, json_type_array))
		return;
	for (const struct attr_row *row = preference_rows; row->name; row++)
		if (!row_find(rows, row->name))
			json_object_array_add(rows, row_json(row, p));
	json_object_array_sort(rows, by_name);
}

void global_schema(struct json_object *schema, const struct shell_command *const *commands)
{
	if (!json_object_is_type(schema, json_type_object) || json_field(schema, "shell"))
		return;
	json_object_object_add(schema, "shell", shell_commands_json(commands));
	global_merge(json_field(json_field(schema, "every_node_groups"), GLOBAL_GROUP), NULL);
	struct json_object *classes = json_field(schema, "classes");
	if (!json_object_is_type(classes, json_type_object))
		return;
	json_object_object_foreach(classes, class, of)
	{
		(void)class;
		global_merge(json_field(json_field(of, "groups"), GLOBAL_GROUP), NULL);
	}
}
