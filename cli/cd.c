// SPDX-License-Identifier: BSD-2-Clause
// cd and pwd.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/command.h"
#include "cli/shell/state.h"

// The next entry in that direction that still exists.
static int walk(struct shell *s, int step, struct err *e)
{
	unsigned at = s->place, n = s->places ? s->places->count : 0;
	while (step < 0 ? at > 0 : at + 1 < n) {
		at = step < 0 ? at - 1 : at + 1;
		const char *to = s->places->line[at];
		int r = shell_go(s, to, false, e);
		if (r == -ENOENT)
			continue;
		if (!r)
			s->place = at;
		if (!r && !s->is_json)
			fprintf(s->look.out, "Taking you %s to %s.\n",
				step < 0 ? "back" : "forward", to);
		return r;
	}
	return err_set(e, -ENOENT, "Reached the %s of the path history.",
		       step < 0 ? "beginning" : "end");
}

// The previous path; repeating it alternates between the two.
static int swap(struct shell *s, struct err *e)
{
	if (!s->places || s->places->count < 2 || !s->place)
		return err_set(e, -ENOENT, "cd -: no previous path");
	char *to = strdup(s->places->line[s->place - 1]);
	int r = to ? shell_go(s, to, true, e) : err_set(e, -ENOMEM, "out of memory");
	free(to);
	return r;
}

static int go(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	const char *to = line_value(l, "path", 0);
	char *full = NULL;
	if (!to && l->command && !l->path)
		return shell_pick(s, e);
	if (to && !strcmp(to, "<"))
		return walk(s, -1, e);
	if (to && !strcmp(to, ">"))
		return walk(s, 1, e);
	if (to && !strcmp(to, "-"))
		return swap(s, e);
	int r = shell_path(path, to ? to : ".", &full, e);
	if (!r)
		r = shell_go(s, full, true, e);
	free(full);
	return r;
}

static int cd(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	int r = go(s, path, l, e);
	return r < 0 ? r : shell_show_place(s);
}

static int pwd(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	if (s->is_json)
		show_json_once(&s->look, params_at(path));
	else
		fprintf(s->look.out, "%s\n", path);
	return 0;
}

static const struct shell_param cd_params[] = {
	{"path", "node", false, NULL,
	  "path to go to; < and > move through the history, - returns to the previous path, none: "
	  "choose from the tree" },
	{ 0},
};

const struct shell_command command_cd = { "cd", cd_params, "Change the current path.", cd };
const struct shell_command command_pwd = { "pwd", NULL, "Show the current path.", pwd };
