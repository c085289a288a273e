// SPDX-License-Identifier: BSD-2-Clause
#include "cli/bookmarks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/schema.h"
#include "cli/state.h"

static bool is_called(const char *line, const char *name)
{
	size_t n = strlen(name);
	return !strncmp(line, name, n) && line[n] == ' ' && line[n + 1] == '/';
}

#define LAST "last"
static char *last; // of this shell

char *bookmark_path(const char *name)
{
	struct state_lines l;
	if (last && !strcmp(name, LAST))
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
		struct json_object *o = json_object_new_object();
		json_object_object_add(o, "text", json_object_new_string(text));
		json_object_object_add(o, "note", json_object_new_string(blank + 1));
		json_object_array_add(list, o);
		free(text);
	}
	state_done(&l);
	return list;
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
	struct change c = { LAST, path, false };
	char *copy = strdup(path);
	if (copy) {
		free(last);
		last = copy;
	}
	if (keeps)
		state_change(HOME_STATE, "bookmarks", change, &c,
			     NULL); // without a home directory it is kept in memory only
}

static int add(struct shell *s, const char *path, const char *name, struct err *e)
{
	struct change c = { name, path, false };
	struct json_object *o;
	if (name[strcspn(name, " /@*")])
		return err_set(e, -EINVAL,
			       "invalid bookmark name %.60s: blanks, /, @ and * are not allowed",
			       name);
	int r = shell_call(s, "tree.info", params_at(path), &o, e);
	if (r < 0)
		return r;
	json_object_put(o);
	r = state_change(HOME_STATE, "bookmarks", change, &c, e);
	if (!r)
		shell_say(s, "Bookmarked %s as %s.", path, name);
	return r;
}

static int no_such(const char *name, struct err *e)
{
	return err_set(e, -ENOENT, "No such bookmark %.60s", name);
}

static int del(struct shell *s, const char *path, const char *name, struct err *e)
{
	struct change c = { name, NULL, false };
	int r = state_change(HOME_STATE, "bookmarks", change, &c, e);
	if (!r && !c.was_there)
		return no_such(name, e);
	if (!r)
		shell_say(s, "Deleted bookmark %s.", name);
	return r;
}

static int go(struct shell *s, const char *path, const char *name, struct err *e)
{
	char *to = bookmark_path(name);
	int r = to ? shell_go(s, to, true, e) : no_such(name, e);
	free(to);
	return r < 0 ? r : shell_show_place(s);
}

static int show(struct shell *s, const char *path, const char *name, struct err *e)
{
	struct json_object *list = bookmarks_json();
	size_t n = list_length(list);
	if (s->is_json)
		show_json(&s->look, list);
	else if (!n)
		fputs("no bookmarks (bookmarks add NAME)\n", s->look.out);
	for (size_t i = 0; !s->is_json && i < n; i++)
		fprintf(s->look.out, "%s  %s\n", text_at(list, i, "text"),
			text_at(list, i, "note"));
	json_object_put(list);
	return 0;
}

static const struct action {
	const char *name;
	bool needs_name;
	int (*run)(struct shell *s, const char *path, const char *name, struct err *e);
} actions[] = {
	{"add",	 true,  add },
	{ "del",	 true,  del },
	{ "go",	true,  go	 },
	{ "show", false, show},
};

static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	const char *what = line_value(l, "action", 0), *name = line_value(l, "bookmark", 1);
	if (!what)
		what = "show";
	if (name && *name == '@')
		name++;
	for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
		if (strcmp(actions[i].name, what))
			continue;
		if (actions[i].needs_name && (!name || !*name))
			return err_set(e, -EBADRQC, "Missing required parameter bookmark");
		if (actions[i].needs_name && actions[i].run != go && !strcmp(name, LAST))
			return err_set(e, -EINVAL,
				       "@" LAST
				       " is reserved: it always names the last object created");
		return actions[i].run(s, path, name, e);
	}
	return err_set(e, -EINVAL, "invalid action: '%.60s' (use add, del, go or show)", what);
}

static const struct shell_param params[] = {
	{"action",	    "add|del|go|show", false, "show", "what to do" },
	{ "bookmark",	      "bookmark", false, NULL,
	  "name of the bookmark; @NAME stands for its path in any command" },
	{ 0},
};

const struct shell_command command_bookmarks = { "bookmarks", params,
						 "Add, delete, list and follow bookmarks of paths.",
						 run };
