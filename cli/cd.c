// SPDX-License-Identifier: BSD-2-Clause
// cd and pwd: where in the tree the shell is.
#include <errno.h>
#include <stdlib.h>

#include "cli/command.h"

static int cd(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	const char *to = line_positional(l, 0);
	char *full = path_join(path, to ? to : ".");
	struct json_object *o;
	if (!full)
		return err_set(e, -ENOMEM, "out of memory");
	int r = shell_call(s, "tree.info", params_at(full), &o, e);
	if (r < 0) {
		free(full);
		return r;
	}
	json_object_put(o);
	free(s->cwd);
	s->cwd = full;
	return 0;
}

static int pwd(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	fprintf(s->look.out, "%s\n", path);
	return 0;
}

static const struct shell_param cd_params[] = {
	{"path", "node", false, NULL, "where to go" },
	{ 0},
};

const struct shell_command command_cd = { "cd", cd_params, "Goes to another path of the tree.",
					  cd };
const struct shell_command command_pwd = { "pwd", NULL, "Tells the path.", pwd };
