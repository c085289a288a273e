// SPDX-License-Identifier: BSD-2-Clause
// Runs lines: requests to the daemon and their results.
#include "cli/bookmarks.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/schema.h"
#include "cli/secret.h"
#include "cli/set.h"
#include "cli/state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

void shell_init(struct shell *s, const char *socket, bool is_json)
{
	*s = (struct shell){
		.socket = socket, .is_json = is_json, .client = {.fd = -1, .is_exact = is_json}
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

int shell_call(struct shell *s, const char *method, struct json_object *params,
	       struct json_object **ret, struct err *e)
{
	if (!s->has_transaction) // it has ended with the connection: report that
		client_check(&s->client);
	if (s->client.fd < 0) {
		int r = client_open(&s->client, s->socket, e);
		if (r < 0) {
			json_object_put(params);
			return r;
		}
	}
	return client_call(&s->client, method, params, ret, e);
}

void shell_say(struct shell *s, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text && s->is_json) {
		struct json_object *o = json_object_new_object(), *list = json_object_new_array();
		json_object_array_add(list, json_object_new_string(text));
		json_object_object_add(o, "messages", list);
		show_json(&s->look, o);
		json_object_put(o);
	} else if (text) {
		fprintf(s->look.out, "%s\n", text);
	}
	free(text);
}

struct json_object *params_at(const char *path)
{
	struct json_object *p = json_object_new_object();
	json_object_object_add(p, "path", json_object_new_string(path));
	return p;
}

// ---- commands of the daemon ----

static struct json_object *run_params(const char *path, const struct line *l)
{
	struct json_object *params = params_at(path), *list = json_object_new_array();
	struct json_object *named = json_object_new_object();
	json_object_object_add(params, "command", json_object_new_string(l->command));
	for (unsigned i = 0; i < l->count; i++) {
		struct json_object *text = json_object_new_string(l->values[i].text);
		if (l->values[i].name)
			json_object_object_add(named, l->values[i].name, text);
		else
			json_object_array_add(list, text);
	}
	json_object_object_add(params, "positional", list);
	json_object_object_add(params, "named", named);
	return params;
}

// A duplicate name would silently override the first.
static int refuse_twice(const struct line *l, struct err *e)
{
	for (unsigned i = 0; i < l->count; i++)
		for (unsigned j = 0; j < i; j++)
			if (l->values[i].name && l->values[j].name &&
			    !strcmp(l->values[i].name, l->values[j].name))
				return err_set(e, -EBADRQC, "Duplicate parameter %.60s.",
					       l->values[i].name);
	return 0;
}

// Whether loglevel_console permits a message; level NULL: it is part of the result.
static bool is_wanted(const struct shell *s, const char *level)
{
	uint32_t wanted = s->prefs.loglevel_console;
	return !level || wanted >= LEVEL_INFO ||
	       (wanted == LEVEL_WARNING && !strcmp(level, "warning"));
}

static void show_messages(struct shell *s, struct json_object *o)
{
	struct json_object *messages = field(o, "messages");
	struct json_object *levels = field(o, "report") ? NULL : field(o, "levels");
	for (size_t i = 0; i < list_length(messages); i++) {
		const char *text = json_object_get_string(json_object_array_get_idx(messages, i));
		struct json_object *level =
			i < list_length(levels) ? json_object_array_get_idx(levels, i) : NULL;
		if (text && is_wanted(s, level ? json_object_get_string(level) : NULL))
			fprintf(s->look.out, "%s\n", text);
	}
}

static void show_reply(struct shell *s, struct json_object *o)
{
	struct json_object *messages = field(o, "messages"), *data = field(o, "data");
	const char *view = text_field(o, "view");
	if (s->is_json) {
		bool has_words = list_length(messages);
		json_object_object_del(o, "levels"); // these are about the terminal
		json_object_object_del(o, "report");
		json_object_object_del(o, "view");
		show_json(&s->look, data && !has_words ? data : o);
		return;
	}
	show_messages(s, o);
	if (!data || !strcmp(view, "messages"))
		return;
	if (!strcmp(view, "refusals")) {
		show_refusals(&s->look, data);
	} else {
		show_data(&s->look, data);
	}
}

static void enter(struct shell *s, const char *path)
{
	shell_enter(s, path);
	if (s->is_interactive && !s->is_json && s->prefs.loglevel_console >= LEVEL_INFO)
		fprintf(s->look.out, "Entering new node %s\n", path);
}

int shell_show_answer(struct shell *s, const struct line *l, struct json_object *answer,
		      struct err *e)
{
	int errors = json_object_get_int(field(answer, "recoverable_errors"));
	int r = files_write(answer, e);
	if (r < 0)
		return r;
	const char *created = text_field(answer, "created");
	if (*created)
		bookmark_last(created, s->is_interactive);
	show_reply(s, answer);
	if (*created && s->prefs.auto_cd_after_create)
		enter(s, created);
	if (!errors)
		return 0;
	return err_set(e, -EREMOTEIO, "%s: %d recoverable errors, shown above", l->command, errors);
}

void shell_saw(struct shell *s, struct json_object *answer)
{
	struct json_object *revision = field(answer, "revision");
	if (revision)
		s->revision = json_object_get_uint64(revision);
	s->has_transaction = json_object_get_boolean(field(answer, "transaction"));
}

int shell_params_at(const char *path, const struct line *l, struct json_object **ret, struct err *e)
{
	int r = refuse_twice(l, e);
	if (!r)
		*ret = run_params(path, l);
	return r;
}

int shell_ask(struct shell *s, struct json_object *params, struct json_object **ret, struct err *e)
{
	if (s->has_revision)
		json_object_object_add(params, "revision", json_object_new_uint64(s->revision));
	struct err why = { 0 };
	int r = shell_call(s, "tree.run", json_object_get(params), ret, &why);
	while (r == -EREMOTE && !(r = files_send(params, &why, &why)))
		r = shell_call(s, "tree.run", json_object_get(params), ret, &why);
	json_object_put(params);
	if (r < 0)
		*e = why;
	if (r == -ETIMEDOUT) // the daemon has undone it
		s->has_transaction = false;
	if (!r)
		shell_saw(s, *ret);
	return r;
}

static int run_there(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	struct json_object *o, *params;
	int r = shell_params_at(path, l, &params, e);
	if (!r)
		r = shell_ask(s, params, &o, e);
	if (r < 0)
		return r;
	r = shell_show_answer(s, l, o, e);
	json_object_put(o);
	return r;
}

int shell_path(const char *base, const char *word, char **ret, struct err *e)
{
	*ret = NULL;
	if (*word == '@') {
		size_t n = strcspn(word, "/");
		char *name = strndup(word + 1, n - 1), *to = name ? bookmark_path(name) : NULL;
		int r = 0;
		if (to)
			*ret = path_join(to, word[n] ? word + n + 1 : ".");
		else
			r = err_set(e, -ENOENT, "No such bookmark %.60s", word + 1);
		free(name);
		free(to);
		if (r < 0)
			return r;
	} else {
		*ret = path_join(base, word);
	}
	return *ret ? 0 : err_set(e, -ENOMEM, "out of memory");
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
	return shell_command_find(l->command);
}

bool shell_is_remote(const struct shell *s, const struct line *l)
{
	bool is_bookmark = l->path && *l->path == '@'; // a line before it may create @last
	// With auto_cd_after_create the path of later lines depends on the result.
	return l->command && !own_command(l) && !is_each(l) && !is_bookmark && !asks_for_value(l) &&
	       !global_is_set(l) && !s->prefs.auto_cd_after_create;
}

int shell_params(struct shell *s, const struct line *l, struct json_object **ret, struct err *e)
{
	char *path = NULL;
	int r = shell_path(s->cwd, l->path ? l->path : ".", &path, e);
	if (!r)
		r = shell_params_at(path, l, ret, e);
	free(path);
	return r;
}

static int run_at(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	const struct shell_command *own = own_command(l);
	if (!own && global_is_set(l))
		return global_set(s, path, l, e);
	if (!own)
		return run_there(s, path, l, e);
	int r = refuse_twice(l, e);
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
	struct json_object *o, *params = params_at(s->cwd);
	size_t n;
	json_object_object_add(params, "depth", json_object_new_int64(1));
	char *base = strdup(s->cwd); // the line itself may change the path
	int r = base ? shell_call(s, "tree.ls", params, &o, e)
		     : err_set(e, -ENOMEM, "out of memory");
	if (r < 0) {
		free(base);
		return r;
	}
	struct json_object *children = list_field(o, "children", &n);
	for (size_t i = 0; !r && i < n; i++) {
		char *path = path_join(base, text_at(children, i, "name"));
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
