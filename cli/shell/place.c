// SPDX-License-Identifier: BSD-2-Clause
// The current path of the shell, and its earlier paths.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/command.h"
#include "cli/shell/state.h"

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
