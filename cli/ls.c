// SPDX-License-Identifier: BSD-2-Clause
// ls: the tree.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

// ls [path] [depth], also ls depth.
static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	const char *first = line_value(l, "path", 0), *depth = line_value(l, "depth", 1);
	bool is_number = first && *first && first[strspn(first, "0123456789")] == 0;
	if (is_number && !depth)
		depth = first;
	char *full;
	int r = shell_path(path, first && !is_number ? first : ".", &full, e);
	if (r < 0)
		return r;
	struct json_object *o, *params = params_at(full);
	if (depth)
		json_object_object_add(params, "depth", json_object_new_int64(atoi(depth)));
	free(full);
	r = shell_call(s, "tree.ls", params, &o, e);
	if (r < 0)
		return r;
	if (s->is_json)
		show_json(&s->look, o);
	else
		show_tree(&s->look, o);
	json_object_put(o);
	return 0;
}

static const struct shell_param params[] = {
	{"path",		  "node", false, NULL, "where to begin" },
	{ "depth",		   "number", false, "0", "levels to show, 0 all" },
	{ 0},
};

const struct shell_command command_ls = { "ls", params, "Shows the tree from here.", run };
