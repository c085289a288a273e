// SPDX-License-Identifier: BSD-2-Clause
// get: settings with their rows.
#include <string.h>

#include "cli/shell/command.h"
#include "cli/shell/global.h"

// Settings of a group, or one of them, in the daemon's form.
static int ask(struct shell *s, const char *path, const char *group, const char *name,
	       struct json_object **ret, struct err *e)
{
	bool is_global = group && !strcmp(group, "global");
	struct json_object *own = is_global && name ? global_rows(&s->prefs, name) : NULL;
	if (own) {
		*ret = text_object("group", group, NULL);
		json_object_object_add(*ret, "rows", own);
		return 0;
	}
	int r = shell_call(s, "tree.get",
			   text_object("path", path, "group", group, "parameter", name, NULL), ret,
			   e);
	if (!r && is_global && !name)
		global_merge(json_field(*ret, "rows"), &s->prefs);
	return r;
}

// get [group] [name ...]
static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	const char *group = line_value(l, "group", 0);
	unsigned i = 1;
	do {
		struct json_object *o;
		int r = ask(s, path, group, line_positional(l, i), &o, e);
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
	{"group",				     "group", false, NULL, "group of settings; none: list the groups" },
	{ "parameter",				      "setting", false, NULL, "one or more settings of the group" },
	{ 0},
};

const struct shell_command command_get = { "get", params, "Show settings and their meaning.", run,
					   .is_open = true };
