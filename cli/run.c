// SPDX-License-Identifier: BSD-2-Clause
// Runs lines: commands of the shell itself, and those of the daemon.
#include "cli/shell/command.h"
#include "cli/shell/schema.h"
#include "cli/shell/secret.h"
#include "cli/set.h"
#include "cli/shell/state.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

void shell_init(struct shell *s, const char *socket, bool is_json)
{
	*s = (struct shell){
		.socket = socket,
		.is_json = is_json,
		.commands = shell_commands,
		.client = {.fd = -1, .is_exact = is_json}
	};
	s->cwd = strdup("/");
	s->prefs = *preferences_default();
	look_init(&s->look, stdout);
	s->look.prefs = &s->prefs;
}

void shell_done(struct shell *s)
{
	client_close(&s->client);
	json_object_put(s->schema);
	if (s->places)
		state_done(s->places);
	free(s->places);
	free(s->cwd);
}

static int run_there(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	struct json_object *o, *params;
	int r = shell_params_at(s, path, l, &params, e);
	if (!r)
		r = shell_ask(s, params, &o, e);
	if (r < 0)
		return r;
	r = shell_show_answer(s, l, o, e);
	json_object_put(o);
	return r;
}

static bool is_each(const struct line *l)
{
	return l->path && !strcmp(l->path, "*");
}

static bool asks_for_value(const struct line *l)
{
	for (unsigned i = 0; i < l->count; i++)
		if (l->values[i].name && !strcmp(l->values[i].text, "-"))
			return true;
	return false;
}

// The shell's own command of a line; NULL: one of the daemon. set without values shows the
// settings, like get.
static const struct shell_command *own_command(const struct line *l)
{
	bool has_values = l->count > 1 ||
			  (l->count && l->values[0].name && strcmp(l->values[0].name, "group"));
	if (!strcmp(l->command, "set") && !has_values)
		return &command_get;
	return shell_command_find(shell_commands, l->command);
}

bool shell_is_remote(const struct shell *s, const struct line *l)
{
	bool is_bookmark = l->path && *l->path == '@'; // a line before it may create @last
	// With auto_cd_after_create the path of later lines depends on the result.
	return l->command && !own_command(l) && !is_each(l) && !is_bookmark && !asks_for_value(l) &&
	       !global_is_set(l) && !s->prefs.auto_cd_after_create;
}

static int run_at(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	const struct shell_command *own = own_command(l);
	if (!own && global_is_set(l))
		return global_set(s, path, l, e);
	if (!own)
		return run_there(s, path, l, e);
	int r = line_refuse_twice(l, e);
	if (!r)
		r = shell_command_check(own, l, e);
	if (!r)
		r = own->run(s, path, l, e);
	if (r < 0)
		shell_command_part(l, e);
	return r;
}

// For every child of the current node, until one fails.
static int run_each(struct shell *s, const struct line *l, struct err *e)
{
	static const struct line ls = { .command = (char *)"ls" };
	struct json_object *o;
	char *base = strdup(s->cwd); // the line itself may change the path
	int r = base ? shell_call(s, "tree.ls", params_of_ls(base, 1), &o, e)
		     : err_set(e, -ENOMEM, "out of memory");
	if (r < 0) {
		free(base);
		return r;
	}
	json_each (child, json_field(o, "children")) {
		if (r < 0)
			break;
		char *path = path_join(base, text_field(child, "name"));
		if (!path)
			r = err_set(e, -ENOMEM, "out of memory");
		if (path && !s->is_json)
			fprintf(s->look.out, "[%s]\n", path);
		if (path)
			r = run_at(s, path, l->command ? l : &ls, e);
		free(path);
	}
	free(base);
	json_object_put(o);
	return r;
}

enum status shell_run(struct shell *s, struct line *l, struct err *e)
{
	char *path = NULL;
	if (!l->path && !l->command)
		return STATUS_OK;
	int r = secrets_ask(s, l, e);
	if (!r && is_each(l)) {
		r = run_each(s, l, e);
	} else if (!r) {
		r = shell_path(s->cwd, l->path ? l->path : ".", &path, e);
		if (!r)
			r = l->command ? run_at(s, path, l, e) : shell_go(s, path, true, e);
		if (!r && !l->command)
			shell_show_place(s);
	}
	free(path);
	fflush(s->look.out);
	return status_of(r);
}
