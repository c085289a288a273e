// SPDX-License-Identifier: BSD-2-Clause
// The current path of the shell, and its earlier paths.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/command.h"
#include "cli/shell/state.h"

static void remember(struct shell *s, const char *path)
{
	if (!s->places)
		s->places = calloc(1, sizeof *s->places);
	if (!s->places)
		return;
	if (!s->places->count)
		state_push(s->places, s->cwd);
	state_push_new(s->places, path);
	s->place = s->places->count - 1;
	if (s->is_interactive)
		state_append(HOME_STATE, "places", path, NULL);
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
		state_append(HOME_STATE, "places", s->cwd, NULL);
}

int shell_show_place(struct shell *s)
{
	if (s->is_json)
		show_json_once(&s->look, params_at(s->cwd));
	return 0;
}
