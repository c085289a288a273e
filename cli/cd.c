// SPDX-License-Identifier: BSD-2-Clause
// cd and pwd: the current path of the shell, and its earlier paths.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/state.h"

static bool push(struct state_lines *l, void *path)
{
	if (l->count && !strcmp(l->line[l->count - 1], path))
		return false;
	state_push(l, path);
	return true;
}

static void remember(struct shell *s, const char *path)
{
	if (!s->places)
		s->places = calloc(1, sizeof *s->places);
	if (!s->places)
		return;
	if (!s->places->count)
		push(s->places, s->cwd);
	push(s->places, (void *)path);
	s->place = s->places->count - 1;
	if (s->is_interactive)
		state_change(HOME_STATE, "places", push, (void *)path, NULL);
}

static int arrive(struct shell *s, const char *path, bool is_new, struct err *e)
{
	char *copy = strdup(path);
	if (!copy)
		return err_set(e, -ENOMEM, "out of memory");
	if (is_new)
		remember(s, path);
	free(s->cwd);
	s->cwd = copy;
	return 0;
}

int shell_go(struct shell *s, const char *path, bool is_new, struct err *e)
{
	struct json_object *o;
	int r = shell_call(s, "tree.info", params_at(path), &o, e);
	if (r < 0)
		return r;
	json_object_put(o);
	return arrive(s, path, is_new, e);
}

void shell_enter(struct shell *s, const char *path)
{
	arrive(s, path, true, NULL);
}

// Moving back and forth adds no entries, so the last one is not always the current path.
void shell_keep_place(struct shell *s)
{
	if (s->places && s->places->count)
		state_change(HOME_STATE, "places", push, s->cwd, NULL);
}

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

int shell_show_place(struct shell *s)
{
	struct json_object *o = s->is_json ? json_object_new_object() : NULL;
	if (!o)
		return 0;
	json_object_object_add(o, "path", json_object_new_string(s->cwd));
	show_json(&s->look, o);
	json_object_put(o);
	return 0;
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
	if (!s->is_json) {
		fprintf(s->look.out, "%s\n", path);
		return 0;
	}
	struct json_object *o = params_at(path);
	show_json(&s->look, o);
	json_object_put(o);
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
