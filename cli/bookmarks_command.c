// SPDX-License-Identifier: BSD-2-Clause
// bookmarks: adds, deletes, lists and follows them.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/bookmarks.h"
#include "cli/shell/command.h"
#include "cli/shell/schema.h"

static int add(struct shell *s, const char *path, const char *name, struct err *e)
{
	struct json_object *o;
	if (name[strcspn(name, " /@*")])
		return err_set(e, -EINVAL,
			       "invalid bookmark name %.60s: blanks, /, @ and * are not allowed",
			       name);
	int r = shell_call(s, "tree.info", params_at(path), &o, e);
	if (r < 0)
		return r;
	json_object_put(o);
	r = bookmark_set(name, path, e);
	if (!r)
		shell_say(s, "Bookmarked %s as %s.", path, name);
	return r;
}

static int del(struct shell *s, const char *path, const char *name, struct err *e)
{
	int r = bookmark_set(name, NULL, e);
	if (!r)
		shell_say(s, "Deleted bookmark %s.", name);
	return r;
}

static int go(struct shell *s, const char *path, const char *name, struct err *e)
{
	char *to = bookmark_path(name);
	int r = to ? shell_go(s, to, true, e) : bookmark_missing(name, e);
	free(to);
	return r < 0 ? r : shell_show_place(s);
}

static int show(struct shell *s, const char *path, const char *name, struct err *e)
{
	struct json_object *list = bookmarks_json();
	if (s->is_json)
		show_json(&s->look, list);
	else if (!json_count(list))
		fputs("no bookmarks (bookmarks add NAME)\n", s->look.out);
	json_each (one, s->is_json ? NULL : list)
		fprintf(s->look.out, "%s  %s\n", text_field(one, "text"), text_field(one, "note"));
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
		if (actions[i].needs_name && actions[i].run != go && !strcmp(name, BOOKMARK_LAST))
			return err_set(e, -EINVAL,
				       "@" BOOKMARK_LAST
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
