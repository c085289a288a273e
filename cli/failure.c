// SPDX-License-Identifier: BSD-2-Clause
#include "cli/failure.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/command.h"
#include "cli/edit/history.h"
#include "cli/shell/schema.h"
#include "core/suggest.h"
#include "core/utf8.h"

// ---- suggestions ----

static void add_command(struct json_object *command, void *arg)
{
	suggest_add(arg, text_field(command, "name"));
}

static void add_group(const char *group, struct json_object *rows, void *arg)
{
	suggest_add(arg, group);
}

static void add_rows(struct suggest *s, struct json_object *rows)
{
	json_each (row, rows)
		suggest_add(s, text_field(row, "name"));
}

static void set_cause(struct cause *c, size_t at, const struct suggest *s)
{
	c->at = at;
	c->meant = s->best ? strdup(s->best) : NULL;
}

// The row of the i-th value: by its name, or by its position among those without.
static struct json_object *row_of(struct json_object *params, const struct line *l, unsigned i)
{
	size_t n = json_count(params);
	size_t position = 0;
	if (l->values[i].name)
		return row_find(params, l->values[i].name);
	for (unsigned k = 0; k < i; k++)
		position += !l->values[k].name;
	return position < n ? json_object_array_get_idx(params, position) : NULL;
}

static const struct line_value *value_of_type(struct json_object *params, const struct line *l,
					      const char *type)
{
	for (unsigned i = 0; i < l->count; i++)
		if (!strcmp(text_field(row_of(params, l, i), "type"), type))
			return &l->values[i];
	return NULL;
}

// An unknown group, or an unknown setting of a group.
static void find_setting(struct json_object *schema, const char *class, const struct line *l,
			 struct json_object *params, struct cause *ret)
{
	const struct line_value *group = value_of_type(params, l, "group");
	struct json_object *rows = schema_group(schema, class, group->text);
	if (!rows) {
		struct suggest s = { .word = group->text };
		schema_groups(schema, class, add_group, &s);
		set_cause(ret, group->at, &s);
	}
	for (unsigned i = 0; rows && i < l->count; i++) {
		const struct line_value *v = &l->values[i];
		struct json_object *row = row_of(params, l, i);
		struct suggest s = { .word = v->name && !row ? v->name : v->text };
		if ((row && strcmp(text_field(row, "type"), "setting")) || row_find(rows, s.word))
			continue;
		add_rows(&s, rows);
		set_cause(ret, v->at, &s);
		return;
	}
}

// The name of an unknown command.
static void find_command(struct json_object *schema, const char *class, const char *name, size_t at,
			 struct cause *ret)
{
	struct suggest s = { .word = name };
	if (schema_command(schema, class, name))
		return;
	schema_commands(schema, class, add_command, &s);
	set_cause(ret, at, &s);
}

// An unknown parameter, or one value too many.
static void find_param(struct json_object *params, const struct line *l, struct cause *ret)
{
	size_t position = 0;
	for (unsigned i = 0; i < l->count; i++) {
		const struct line_value *v = &l->values[i];
		struct suggest s = { .word = v->name ? v->name : "" };
		if (v->name ? row_find(params, v->name) != NULL : position++ < json_count(params))
			continue;
		if (v->name)
			add_rows(&s, params);
		set_cause(ret, v->at, &s);
		return;
	}
}

// The value that the error is about, or SIZE_MAX.
static size_t part_at(const struct line *l, const struct err *e)
{
	unsigned position = 0;
	for (unsigned i = 0; i < l->count; i++) {
		const struct line_value *v = &l->values[i];
		if (e->part == ERR_PART_NAME && v->name && !strcmp(v->name, e->name))
			return v->at;
		if (e->part == ERR_PART_POSITION && !v->name && position++ == e->index)
			return v->at;
	}
	return SIZE_MAX;
}

void failure_find(struct json_object *schema, const char *class, const struct line *l,
		  const struct err *e, struct cause *ret)
{
	*ret = (struct cause){ SIZE_MAX, NULL };
	if (!l->command)
		return;
	struct json_object *row = schema_command(schema, class, l->command);
	struct json_object *params = json_field(row, "params");
	const struct line_value *topic = value_of_type(params, l, "command");
	if (!row && e->code == -ENOSYS)
		find_command(schema, class, l->command, l->command_at, ret);
	else if (row && (e->code == -ENOENT || e->code == -EBADRQC) &&
		 value_of_type(params, l, "group"))
		find_setting(schema, class, l, params, ret);
	else if (row && e->code == -ENOENT && topic)
		find_command(schema, class, topic->text, topic->at, ret);
	else if (row && e->code == -EBADRQC)
		find_param(params, l, ret);
	else if (row && params && (e->code == -EINVAL || e->code == -ERANGE))
		ret->at = part_at(l, e);
}

// ---- paths ----

// The class of the node, NULL: no such node; for free().
static char *class_at(struct shell *s, const char *path)
{
	struct json_object *o;
	struct err e;
	if (shell_call(s, "tree.info", params_at(path), &o, &e) < 0)
		return NULL;
	char *class = strdup(text_field(o, "class"));
	json_object_put(o);
	return class;
}

// The existing part of the path. From the top on, since the missing part may be of any length and
// the existing one is limited by the tree.
static size_t existing(struct shell *s, const char *path)
{
	for (size_t have = 0;;) {
		size_t to = have + 1 + strcspn(path + have + 1, "/");
		char *part = strndup(path, to), *class = part ? class_at(s, part) : NULL;
		bool is_there = class;
		free(class);
		free(part);
		if (!is_there)
			return have;
		have = to;
		if (!path[have])
			return have;
	}
}

// The name of the child in o nearest to a component, for free(); NULL: none.
static char *near_child(struct json_object *o, const char *step)
{
	struct suggest near = { .word = step };
	add_rows(&near, json_field(o, "children"));
	return near.best ? strdup(near.best) : NULL;
}

// The path with its first unknown component replaced by a similar existing one.
static char *near_path(struct shell *s, const char *path)
{
	char *meant = NULL, *near = NULL;
	size_t have = existing(s, path);
	if (!path[have] || !path[have + 1])
		return NULL;
	size_t behind = have + 1 + strcspn(path + have + 1, "/");
	char *where = have ? strndup(path, have) : strdup("/");
	char *step = strndup(path + have + 1, behind - have - 1);
	struct json_object *o = NULL;
	struct err e;
	if (where && step && !shell_call(s, "tree.ls", params_of_ls(where, 1), &o, &e))
		near = near_child(o, step);
	if (near && asprintf(&meant, "%.*s/%s%s", (int)have, path, near, path + behind) < 0)
		meant = NULL;
	json_object_put(o);
	free(near);
	free(step);
	free(where);
	return meant;
}

// The path of the line, or the argument of cd and ls.
static void find_path(struct shell *s, const struct line *l, const char *where, struct cause *ret)
{
	char *class = class_at(s, where);
	free(class);
	if (!class) {
		ret->at = l->path ? l->path_at : SIZE_MAX;
		ret->meant = near_path(s, where);
		return;
	}
	const char *to = l->command ? line_positional(l, 0) : NULL;
	bool is_path = to && (strchr(to, '/') || shell_command_find(s->commands, l->command));
	char *full = is_path ? path_join(where, to) : NULL;
	class = full ? class_at(s, full) : strdup("");
	ret->meant = full && !class ? near_path(s, full) : NULL;
	for (unsigned i = 0; full && !class && i < l->count; i++)
		if (l->values[i].text == to)
			ret->at = l->values[i].at;
	free(class);
	free(full);
}

static void find_cause(struct shell *s, const struct line *l, const struct err *e,
		       struct cause *ret)
{
	struct err ignored;
	bool is_about_line = e->code == -ENOENT || e->code == -ENOSYS || e->code == -EBADRQC ||
			     e->code == -EINVAL || e->code == -ERANGE;
	*ret = (struct cause){ SIZE_MAX, NULL };
	if (!is_about_line)
		return;
	char *where = path_join(s->cwd, l->path && *l->path != '@' ? l->path : ".");
	char *class = where ? class_at(s, where) : NULL;
	if (class && !shell_schema(s, &ignored))
		failure_find(s->schema, class, l, e, ret);
	free(class);
	if (ret->at == SIZE_MAX && (e->code == -ENOENT || e->code == -EINVAL))
		ret->at = part_at(l, e);
	if (where && ret->at == SIZE_MAX && e->code == -ENOENT)
		find_path(s, l, where, ret);
	free(where);
}

// ---- reporting ----

static void tell_json(const struct origin *o, size_t at, const char *text, enum status status,
		      const struct err *e)
{
	struct json_object *doc = json_object_new_object(), *error = json_object_new_object();
	const char *name = e->code ? strerrorname_np(-e->code) : NULL;
	json_object_object_add(error, "code", json_object_new_string(name ? name : "EINVAL"));
	json_object_object_add(error, "status", json_object_new_int(status));
	json_object_object_add(error, "text", json_object_new_string(text));
	if (o->name) {
		json_object_object_add(error, "file", json_object_new_string(o->name));
		json_object_object_add(error, "line", json_object_new_int64(o->number));
	}
	if (at != SIZE_MAX)
		json_object_object_add(error, "column", json_object_new_int64((int64_t)at + 1));
	json_object_object_add(doc, "error", error);
	fprintf(stderr, "%s\n",
		json_object_to_json_string_ext(doc, JSON_C_TO_STRING_PRETTY |
							    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(doc);
}

// The columns of the text before at: only first bytes of characters count.
static unsigned columns(const char *text, size_t at)
{
	unsigned n = 0;
	for (size_t i = 0; i < at && text[i]; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

// The line made safe for a terminal without changing its width, so that the caret is at the right
// column.
static char *shown_again(const char *text)
{
	char *copy = strdup(text);
	for (char *p = copy; p && *p; p++)
		if (*p == '\t')
			*p = ' ';
	if (copy)
		utf8_tame(copy);
	return copy;
}

static void tell_caret(const struct shell *s, const struct origin *o, size_t at)
{
	char *text = shown_again(o->text);
	if (!text)
		return;
	unsigned column = columns(text, at);
	if (o->is_on_screen && o->indent + strlen(text) < s->look.width)
		fprintf(stderr, "%*s^\n", (int)(o->indent + column), "");
	else
		fprintf(stderr, "  %s\n  %*s^\n", text, (int)column, "");
	free(text);
}

enum status failure_tell(struct shell *s, const struct origin *o, const struct line *l, size_t at,
			 enum status status, const struct err *e)
{
	struct cause c = { at, NULL };
	char *text = NULL;
	if (l)
		find_cause(s, l, e, &c);
	if (!c.meant ||
	    asprintf(&text, "%s%s Did you mean %s?", e->text,
		     strchr(".?!", e->text[strlen(e->text) - 1]) ? "" : ".", c.meant) < 0)
		text = strdup(e->text);
	fflush(s->look.out); // preceded by the successful output
	bool has_caret = c.at != SIZE_MAX && o->text && c.at <= strlen(o->text) &&
			 (o->is_on_screen || history_may_keep(s->schema, s->commands, o->text));
	if (s->is_json) {
		tell_json(o, c.at, text ? text : e->text, status, e);
	} else {
		if (has_caret && o->is_on_screen)
			tell_caret(s, o, c.at);
		if (o->name)
			fprintf(stderr, "%s:%u: ", o->name, o->number);
		fprintf(stderr, "%s\n", text ? text : e->text);
		if (has_caret && !o->is_on_screen)
			tell_caret(s, o, c.at);
	}
	free(text);
	free(c.meant);
	return status;
}
