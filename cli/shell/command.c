// SPDX-License-Identifier: BSD-2-Clause
// Rows of the shell's own commands: checks of their values, and their schema.
#include "cli/shell/command.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/json/json.h"

const struct shell_command *shell_command_find(const struct shell_command *const *commands,
					       const char *name)
{
	for (const struct shell_command *const *c = commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

static const struct shell_param *param_named(const struct shell_param *rows, const char *name)
{
	for (; rows && rows->name; rows++)
		if (!strcmp(rows->name, name))
			return rows;
	return NULL;
}

int shell_command_check(const struct shell_command *c, const struct line *l, struct err *e)
{
	unsigned known = 0, positional = 0;
	while (c->params && c->params[known].name)
		known++;
	for (unsigned i = 0; i < l->count; i++)
		positional += !l->values[i].name;
	if (!c->is_open && positional > known)
		return err_set(e, -EBADRQC, "Got %u positional parameters, expected at most %u.",
			       positional, known);
	for (unsigned i = 0; i < l->count; i++) {
		const char *name = l->values[i].name;
		const struct shell_param *p = name ? param_named(c->params, name) : NULL;
		if (name && !p)
			return err_set(e, -EBADRQC, "Unexpected keyword parameter '%.60s'.", name);
		if (p && !c->is_open && p - c->params < (ptrdiff_t)positional)
			return err_set(e, -EBADRQC, "Duplicate parameter %.60s.", name);
	}
	return 0;
}

void shell_command_part(const struct line *l, struct err *e)
{
	unsigned position = 0;
	for (unsigned i = 0; !e->part && i < l->count; i++) {
		const struct line_value *v = &l->values[i];
		char quoted[80];
		snprintf(quoted, sizeof quoted, "'%.60s'", v->text);
		if (*v->text && strstr(e->text, quoted))
			err_at(e, v->name ? ERR_PART_NAME : ERR_PART_POSITION, position, v->name);
		position += !v->name;
	}
}

static struct json_object *params_json(const struct shell_param *rows)
{
	struct json_object *list = json_object_new_array();
	for (const struct shell_param *p = rows; p && p->name; p++) {
		struct json_object *o = json_object_new_object();
		json_put_text(o, "name", p->name);
		json_put_text(o, "type", strchr(p->type, '|') ? "string" : p->type);
		json_put_text(o, "choices", strchr(p->type, '|') ? p->type : NULL);
		json_object_object_add(o, "required", json_object_new_boolean(p->is_required));
		json_put_text(o, "default", p->default_text);
		json_put_text(o, "help", p->help);
		json_object_array_add(list, o);
	}
	return list;
}

struct json_object *shell_commands_json(const struct shell_command *const *commands)
{
	struct json_object *list = json_object_new_array();
	for (const struct shell_command *const *c = commands; *c; c++) {
		struct json_object *o = json_object_new_object();
		json_put_text(o, "name", (*c)->name);
		json_put_text(o, "help", (*c)->help);
		json_object_object_add(o, "params", params_json((*c)->params));
		json_object_array_add(list, o);
	}
	return list;
}
