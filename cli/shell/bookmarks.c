// SPDX-License-Identifier: BSD-2-Clause
#include "cli/shell/bookmarks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/client.h"
#include "cli/shell/state.h"

static bool is_called(const char *line, const char *name)
{
	size_t n = strlen(name);
	return !strncmp(line, name, n) && line[n] == ' ' && line[n + 1] == '/';
}

static char *last; // of this shell

char *bookmark_path(const char *name)
{
	struct state_lines l;
	if (last && !strcmp(name, BOOKMARK_LAST))
		return strdup(last);
	char *path = NULL;
	state_read(HOME_STATE, "bookmarks", &l);
	for (unsigned i = 0; i < l.count; i++)
		if (is_called(l.line[i], name) && !path)
			path = strdup(l.line[i] + strlen(name) + 1);
	state_done(&l);
	return path;
}

struct json_object *bookmarks_json(void)
{
	struct state_lines l;
	struct json_object *list = json_object_new_array();
	state_read(HOME_STATE, "bookmarks", &l);
	for (unsigned i = 0; i < l.count; i++) {
		char *blank = strchr(l.line[i], ' '), *text = NULL;
		if (!blank || asprintf(&text, "@%.*s", (int)(blank - l.line[i]), l.line[i]) < 0)
			continue;
		json_object_array_add(list, text_object("text", text, "note", blank + 1, NULL));
		free(text);
	}
	state_done(&l);
	return list;
}

int bookmark_missing(const char *name, struct err *e)
{
	return err_set(e, -ENOENT, "No such bookmark %.60s", name);
}

struct change {
	const char *name, *path; // path NULL: remove it
	bool was_there;
};

static bool change(struct state_lines *l, void *arg)
{
	struct change *c = arg;
	for (unsigned i = 0; i < l->count; i++)
		if (is_called(l->line[i], c->name)) {
			c->was_there = true;
			state_remove(l, i--);
		}
	char *line = NULL;
	if (c->path && asprintf(&line, "%s %s", c->name, c->path) > 0)
		state_push(l, line);
	free(line);
	return c->path || c->was_there;
}

void bookmark_last(const char *path, bool keeps)
{
	struct change c = { BOOKMARK_LAST, path, false };
	char *copy = strdup(path);
	if (copy) {
		free(last);
		last = copy;
	}
	if (keeps)
		state_change(HOME_STATE, "bookmarks", change, &c,
			     NULL); // without a home directory it is kept in memory only
}

int bookmark_set(const char *name, const char *path, struct err *e)
{
	struct change c = { name, path, false };
	int r = state_change(HOME_STATE, "bookmarks", change, &c, e);
	if (!r && !path && !c.was_there)
		return bookmark_missing(name, e);
	return r;
}
