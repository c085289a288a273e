// SPDX-License-Identifier: BSD-2-Clause
// ls: the tree.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/command.h"
#include "cli/tree.h"
#include "cli/tree_rows.h"
#include "core/attr.h"

// The request. depth NULL: unlimited.
struct wish {
	const char *path, *depth;
	unsigned depth_at; // among the values without a name
	bool is_long, is_plain;
};

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

static int option(struct wish *w, const char *text, struct err *e)
{
	bool is_long = !strcmp(text, "-l") || !strcmp(text, "--long");
	bool is_plain = !strcmp(text, "--plain");
	w->is_long |= is_long;
	w->is_plain |= is_plain;
	if (is_long || is_plain)
		return 0;
	return err_set(e, -EBADRQC, "ls: unknown option %.40s (use -l or --plain)", text);
}

static int flag(const struct line *l, const char *name, bool *ret, struct err *e)
{
	const char *text = line_named(l, name);
	if (!text)
		return 0;
	if (!parse_bool(text, ret))
		return err_set(e, -EINVAL, "Syntax error, '%.40s' is not true|false.", text);
	return 0;
}

// ls [path] [depth], also ls depth; options anywhere.
static int understand(const struct line *l, struct wish *ret, struct err *e)
{
	unsigned position = 0;
	*ret = (struct wish){ .path = line_named(l, "path"), .depth = line_named(l, "depth") };
	int r = flag(l, "long", &ret->is_long, e);
	if (!r)
		r = flag(l, "plain", &ret->is_plain, e);
	for (unsigned i = 0; !r && i < l->count; i++) {
		const char *text = l->values[i].text;
		if (l->values[i].name)
			continue;
		if (*text == '-')
			r = option(ret, text, e);
		else if (!ret->path && !is_number(text))
			ret->path = text;
		else if (!ret->depth)
			ret->depth = text, ret->depth_at = position;
		else
			r = err_set(e, -EBADRQC,
				    "ls: unexpected argument %.60s (one path and one depth)", text);
		position++;
	}
	if (!r && ret->depth && !is_number(ret->depth))
		r = err_set(e, -EINVAL, "Syntax error, '%.40s' is not a NUMBER.", ret->depth);
	return r;
}

static int draw(struct shell *s, const struct wish *w, const char *path, struct json_object *params,
		struct err *e)
{
	char *text = NULL, *rows = NULL;
	if (w->is_long)
		json_object_object_add(params, "serials", json_object_new_boolean(true));
	int r = shell_call_text(s, "tree.ls", params, &text, e);
	const char *id = r < 0 ? NULL : json_text_member(text, "id");
	const char *result = id && strtoul(id, NULL, 10) == s->client.next_id
				     ? json_text_member(text, "result")
				     : NULL;
	if (!r && !result)
		r = client_refusal(&s->client, text, e);
	if (!r)
		r = tree_rows_of(result ? result : "", &rows, e);
	if (!r)
		r = tree_draw(&s->look, rows, w->is_plain ? path : NULL, e);
	free(rows);
	free(text);
	return r;
}

// As a tree, for users; formats for programs do not depend on preferences.
static bool is_drawn(const struct shell *s, const struct wish *w)
{
	return !s->is_json && !w->is_plain;
}

static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	struct wish w;
	char *full = NULL;
	struct json_object *o;
	int r = understand(l, &w, e);
	if (!r)
		r = shell_path(path, w.path ? w.path : ".", &full, e);
	if (r < 0)
		return r;
	int64_t depth = is_drawn(s, &w) ? (int64_t)s->prefs.tree_max_depth : 0;
	struct json_object *params = params_of_ls(full, w.depth ? atoi(w.depth) : depth);
	if (!s->is_json) {
		r = draw(s, &w, full, params, e);
	} else {
		r = shell_call(s, "tree.ls", params, &o, e);
		if (!r)
			show_json_once(&s->look, o);
	}
	free(full);
	line_place(l, "depth", w.depth_at, e);
	return r;
}

static const struct shell_param params[] = {
	{"path",		  "node", false, NULL, "node to start from" },
	{ "depth",		   "number", false, "0", "levels to show, 0 all" },
	{ "long", "bool", false, "false",
	  "true, or -l: show serial numbers of storage objects and LUNs" },
	{ "plain",		   "bool", false, "false", "true, or --plain: show paths and summaries only" },
	{ 0	       },
};

const struct shell_command command_ls = { "ls", params, "Show the tree below a node.", run,
					  .is_open = true };
