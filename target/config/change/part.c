// SPDX-License-Identifier: BSD-2-Clause
// Which value of a call an error is about, for clients that show its place: the texts of this
// folder quote a value that they reject, or begin with the name of its parameter or setting.
// Control thread.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/json/json.h"
#include "target/config/change/command.h"

static bool is_quoted(const struct err *e, const char *name, struct json_object *value)
{
	const char *text = json_scalar(value);
	char quoted[80];
	snprintf(quoted, sizeof quoted, "'%.60s'", text ? text : "");
	return text && *text && strstr(e->text, quoted);
}

static bool is_named(const struct err *e, const char *name, struct json_object *value)
{
	size_t n = name ? strlen(name) : 0;
	return n && !strncmp(e->text, name, n) && e->text[n] == ':';
}

static const char *row_name(const struct command_row *row, size_t i)
{
	const struct param_row *p = row->params;
	for (; p && p->name && i; i--)
		p++;
	return p ? p->name : NULL;
}

typedef bool about(const struct err *e, const char *name, struct json_object *value);

static bool find(about *is_it, const struct command_row *row, struct json_object *positional,
		 struct json_object *named, struct err *e)
{
	for (size_t i = 0; i < json_count(positional); i++)
		if (is_it(e, row_name(row, i), json_object_array_get_idx(positional, i)))
			return err_at(e, ERR_PART_POSITION, (unsigned)i, NULL), true;
	if (!json_object_is_type(named, json_type_object))
		return false;
	json_object_object_foreach(named, key, value)
	{
		if (is_it(e, key, value))
			return err_at(e, ERR_PART_NAME, 0, key), true;
	}
	return false;
}

void part_find(const struct command_row *row, struct json_object *positional,
	       struct json_object *named, struct err *e)
{
	bool is_about_value =
		e && !e->part && (e->code == -EINVAL || e->code == -ERANGE || e->code == -ENOENT);
	if (is_about_value && !find(is_quoted, row, positional, named, e) && e->code != -ENOENT)
		find(is_named, row, positional, named, e);
}
