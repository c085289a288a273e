// SPDX-License-Identifier: BSD-2-Clause
// help: what can be done here.
#include <errno.h>

#include "cli/command.h"

static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	struct json_object *o;
	int r = shell_schema(s, e);
	if (!r)
		r = shell_call(s, "tree.info", params_at(path), &o, e);
	if (r < 0)
		return r;
	const char *topic = line_value(l, "topic", 0);
	bool is_known = show_help(&s->look, s->schema, text_field(o, "class"), topic);
	json_object_put(o);
	return is_known ? 0 : err_set(e, -ENOSYS, "Cannot find help topic %.60s.", topic);
}

static const struct shell_param params[] = {
	{"topic", "command", false, NULL, "a command; without it all of them" },
	{ 0 },
};

const struct shell_command command_help = { "help", params, "Tells what can be done here.", run };
