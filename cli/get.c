// SPDX-License-Identifier: BSD-2-Clause
// get: settings with their rows.
#include "cli/command.h"

// get [group] [name ...]
static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	const char *group = line_value(l, "group", 0), *name;
	unsigned i = 1;
	do {
		struct json_object *o, *params = params_at(path);
		name = line_positional(l, i);
		if (group)
			json_object_object_add(params, "group", json_object_new_string(group));
		if (name)
			json_object_object_add(params, "parameter", json_object_new_string(name));
		int r = shell_call(s, "tree.get", params, &o, e);
		if (r < 0)
			return r;
		if (s->is_json)
			show_json(&s->look, o);
		else
			show_settings(&s->look, o);
		json_object_put(o);
	} while (line_positional(l, ++i));
	return 0;
}

static const struct shell_param params[] = {
	{"group",				      "group", false, NULL, "group of settings; without it their names" },
	{ "parameter",				       "setting", false, NULL, "one of them, or several" },
	{ 0},
};

const struct shell_command command_get = { "get", params, "Shows settings and what they mean.",
					   run };
