// SPDX-License-Identifier: BSD-2-Clause
#include "cli/edit/source.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/shell/bookmarks.h"
#include "cli/shell/command.h"
#include "cli/shell/interrupt.h"
#include "cli/shell/schema.h"
#include "cli/shell/global.h"

enum { PATIENCE_MS = 300, PATIENCE_MAX_MS = 60000, FILES_MAX = 1000 };

// The result, for json_object_put(); NULL: none.
static struct json_object *ask(struct source *s, const char *method, struct json_object *params)
{
	struct json_object *o = NULL;
	struct err e;
	client_check(&s->client);
	if (s->is_silent ||
	    (s->client.fd < 0 && client_open(&s->client, s->shell->socket, &e) < 0)) {
		s->is_silent = true;
		json_object_put(params);
		return NULL;
	}
	// A refusal is a response; no response closes the connection.
	int r = client_call(&s->client, method, params, &o, &e);
	if (r < 0 && s->client.fd < 0)
		s->is_silent = true;
	interrupt_again(r); // Ctrl-C is meant for the line, not for its hint
	return o;
}

static char *class_of(void *arg, const char *path)
{
	struct source *s = arg;
	struct json_object *known = json_field(s->classes, path);
	if (!known) {
		struct json_object *o = ask(s, "tree.info", params_at(path));
		if (!json_field(o, "class")) {
			json_object_put(o);
			return NULL;
		}
		known = json_object_new_string(text_field(o, "class"));
		json_object_object_add(s->classes, path, known);
		json_object_put(o);
	}
	return strdup(json_object_get_string(known));
}

static void put_pair(struct json_object *list, const char *text, const char *note)
{
	json_object_array_add(list, text_object("text", text, "note", note, NULL));
}

static struct json_object *children(void *arg, const char *path)
{
	struct json_object *list = json_object_new_array();
	struct json_object *o = ask(arg, "tree.ls", params_of_ls(path, 1));
	json_each (child, json_field(o, "children"))
		put_pair(list, text_field(child, "name"), text_field(child, "summary"));
	json_object_put(o);
	return list;
}

static struct json_object *values(void *arg, const char *path, const char *command,
				  const char *parameter, const char *prefix)
{
	return ask(arg, "tree.complete",
		   text_object("path", path, "command", command, "parameter", parameter, "prefix",
			       prefix, NULL));
}

static int by_text(const void *a, const void *b)
{
	struct json_object *const *x = a, *const *y = b;
	return strcmp(text_field(*x, "text"), text_field(*y, "text"));
}

// The control socket is local, so the daemon's files are on this machine.
static struct json_object *files(void *arg, const char *prefix)
{
	struct json_object *list = json_object_new_array();
	const char *slash = strrchr(prefix, '/');
	if (!slash)
		return list;
	char *folder = strndup(prefix, (size_t)(slash + 1 - prefix));
	DIR *d = folder ? opendir(folder) : NULL;
	for (struct dirent *e; d && (e = readdir(d)) && json_count(list) < FILES_MAX;) {
		struct stat st;
		char *path = NULL;
		bool is_hidden = *e->d_name == '.' && slash[1] != '.';
		if (is_hidden || strncmp(e->d_name, slash + 1, strlen(slash + 1)) ||
		    fstatat(dirfd(d), e->d_name, &st, 0) < 0 ||
		    asprintf(&path, "%s%s%s", folder, e->d_name, S_ISDIR(st.st_mode) ? "/" : "") <
			    0)
			continue;
		put_pair(list, path, "");
		free(path);
	}
	if (d)
		closedir(d);
	free(folder);
	json_object_array_sort(list, by_text);
	return list;
}

static char *bookmark(void *arg, const char *name)
{
	return bookmark_path(name);
}

static struct json_object *bookmarks(void *arg)
{
	return bookmarks_json();
}

// How long completion waits for the daemon.
static int patience(void)
{
	const char *text = getenv("FARBLOCK_COMPLETE_MS");
	long ms = text ? strtol(text, NULL, 10) : 0;

	return ms > 0 && ms <= PATIENCE_MAX_MS ? (int)ms : PATIENCE_MS;
}

void source_init(struct source *s, struct shell *shell)
{
	*s = (struct source){
		.shell = shell,
		.client = {.fd = -1,		      .timeout_ms = patience()},
		.base = { .bookmark = bookmark,
			   .class_of = class_of,
			   .children = children,
			   .files = files,
			   .bookmarks = bookmarks,
			   .values = values },
	};
	s->base.arg = s;
}

void source_begin(struct source *s)
{
	s->is_silent = false;
	s->base.cwd = s->shell->cwd;
	json_object_put(s->classes);
	s->classes = json_object_new_object();
	if (!s->schema) {
		s->schema = ask(s, "schema", NULL);
		global_schema(s->schema, s->shell->commands);
	}
	s->base.schema = s->schema;
}

void source_done(struct source *s)
{
	client_close(&s->client);
	json_object_put(s->schema);
	json_object_put(s->classes);
}

// --complete: candidates for other shells.
enum status shell_complete(struct shell *s, const char *line)
{
	struct source source;
	struct candidates c;
	source_init(&source, s);
	source_begin(&source);
	complete(&source.base, line, &c);
	for (unsigned i = 0; i < c.count; i++)
		fprintf(s->look.out, "%s\t%s\n", c.list[i].text, c.list[i].note);
	candidates_done(&c);
	source_done(&source);
	return STATUS_OK;
}
