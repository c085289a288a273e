// SPDX-License-Identifier: BSD-2-Clause
// Calls of the daemon for lines of the shell.
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/bookmarks.h"
#include "cli/shell/command.h"
#include "cli/shell/files.h"
#include "cli/shell/global.h"

// Takes ownership of params on failure.
static int connect_again(struct shell *s, struct json_object *params, struct err *e)
{
	if (!s->has_transaction) // it has ended with the connection: report that
		client_check(&s->client);
	int r = s->client.fd < 0 ? client_open(&s->client, s->socket, e) : 0;
	if (r < 0)
		json_object_put(params);
	return r;
}

int shell_call(struct shell *s, const char *method, struct json_object *params,
	       struct json_object **ret, struct err *e)
{
	int r = connect_again(s, params, e);
	return r < 0 ? r : client_call(&s->client, method, params, ret, e);
}

int shell_call_text(struct shell *s, const char *method, struct json_object *params, char **ret,
		    struct err *e)
{
	int r = connect_again(s, params, e);
	return r < 0 ? r : client_text(&s->client, method, params, ret, e);
}

struct json_object *params_at(const char *path)
{
	return text_object("path", path, NULL);
}

struct json_object *params_of_ls(const char *path, int64_t depth)
{
	struct json_object *params = params_at(path);
	if (depth)
		json_object_object_add(params, "depth", json_object_new_int64(depth));
	return params;
}

struct json_object *run_params(const char *path, const char *command,
			       struct json_object *positional, struct json_object *named)
{
	struct json_object *params = text_object("path", path, "command", command, NULL);
	json_object_object_add(params, "positional", positional);
	json_object_object_add(params, "named", named);
	return params;
}

static struct json_object *line_params(const char *path, const struct line *l)
{
	struct json_object *list = json_object_new_array(), *named = json_object_new_object();
	for (unsigned i = 0; i < l->count; i++) {
		struct json_object *text = json_object_new_string(l->values[i].text);
		if (l->values[i].name)
			json_object_object_add(named, l->values[i].name, text);
		else
			json_object_array_add(list, text);
	}
	return run_params(path, l->command, list, named);
}

// Whether create at path creates a storage object, possibly for a device that it is given.
static bool creates_storage(const char *path)
{
	static const char *const places[] = { "/backstores/block", "/backstores/fileio", "/*/luns",
					      "/*/acls/*" };
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (!fnmatch(places[i], path, 0))
			return true;
	return false;
}

// With --targetcli create accepts a device with data. It opens the device exclusively, as always.
static void put_targetcli(const char *path, const struct line *l, struct json_object *params)
{
	struct json_object *named = json_object_object_get(params, "named");
	if (strcmp(l->command, "create") || !creates_storage(path) || line_named(l, "inspect"))
		return;
	json_object_object_add(named, "inspect", json_object_new_string("false"));
}

void shell_saw(struct shell *s, struct json_object *answer)
{
	struct json_object *revision = json_field(answer, "revision");
	if (revision)
		s->revision = json_object_get_uint64(revision);
	s->has_transaction = flag_field(answer, "transaction");
}

int shell_params_at(const struct shell *s, const char *path, const struct line *l,
		    struct json_object **ret, struct err *e)
{
	int r = line_refuse_twice(l, e);
	if (r < 0)
		return r;
	*ret = line_params(path, l);
	if (s->is_targetcli)
		put_targetcli(path, l, *ret);
	return 0;
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

// To tell a missing bookmark from missing memory.
static char *find_bookmark(void *has_path, const char *name)
{
	char *path = bookmark_path(name);
	*(bool *)has_path = path;
	return path;
}

int shell_path(const char *base, const char *word, char **ret, struct err *e)
{
	bool has_path = true;
	*ret = path_of_word(base, word, find_bookmark, &has_path);
	if (!has_path)
		return bookmark_missing(word + 1, e);
	return *ret ? 0 : err_set(e, -ENOMEM, "out of memory");
}

int shell_params(struct shell *s, const struct line *l, struct json_object **ret, struct err *e)
{
	char *path = NULL;
	int r = shell_path(s->cwd, l->path ? l->path : ".", &path, e);
	if (!r)
		r = shell_params_at(s, path, l, ret, e);
	free(path);
	return r;
}

int shell_schema(struct shell *s, struct err *e)
{
	int r = s->schema ? 0 : shell_call(s, "schema", NULL, &s->schema, e);
	if (!r && !json_object_is_type(s->schema, json_type_object))
		r = err_set(e, -EPROTO, "farblockd's schema is not an object");
	if (!r)
		global_schema(s->schema, s->commands);
	return r;
}
