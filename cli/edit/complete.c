// SPDX-License-Identifier: BSD-2-Clause
#include "cli/edit/complete.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/shell/client.h"
#include "cli/shell/schema.h"

// A completion.
struct work {
	const struct complete_source *source;
	const struct cursor *cursor;
	char *path, *class; // where the command runs
	struct candidates *ret;
	enum candidate_kind kind; // of candidates to add
};

// ---- candidates ----

// Text for the line and the terminal must be printable.
static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			return false;
	return true;
}

// Adds the candidate head+tail if it begins with the typed text.
static void add(struct work *w, const char *head, const char *tail, const char *note, char end)
{
	struct candidates *c = w->ret;
	char *text = NULL;
	if (c->count == CANDIDATES_MAX || !is_printable(tail) ||
	    asprintf(&text, "%s%s", head, tail) < 0)
		return;
	struct candidate *grown = NULL;
	bool is_wanted = !strncmp(text, w->cursor->word.text, strlen(w->cursor->word.text));
	for (unsigned i = 0; is_wanted && i < c->count; i++)
		is_wanted = strcmp(c->list[i].text, text) != 0;
	if (is_wanted)
		grown = realloc(c->list, (c->count + 1) * sizeof *grown);
	if (!grown) {
		free(text);
		return;
	}
	c->list = grown;
	char *copy = strdup(is_printable(note) ? note : "");
	grown[c->count++] = (struct candidate){ text, copy, end, w->kind };
}

// head: the part of the word before the value, "name=" or "".
static void add_value(struct work *w, const char *head, const char *value, const char *note)
{
	size_t n = strlen(value);
	add(w, head, value, note, n && value[n - 1] == '/' ? 0 : ' ');
}

static void add_list(struct work *w, const char *head, struct json_object *list)
{
	json_each (one, list)
		add_value(w, head, text_field(one, "text"), text_field(one, "note"));
	json_object_put(list);
}

static void add_words(struct work *w, const char *head, const char *words)
{
	while (*words) {
		size_t n = strcspn(words, "|");
		char *one = strndup(words, n);
		if (one)
			add_value(w, head, one, "");
		free(one);
		words += n + (words[n] == '|');
	}
}

void candidates_done(struct candidates *c)
{
	for (unsigned i = 0; i < c->count; i++) {
		free(c->list[i].text);
		free(c->list[i].note);
	}
	free(c->list);
	*c = (struct candidates){ 0 };
}

size_t candidates_common(const struct candidates *c)
{
	size_t n = c->count ? strlen(c->list[0].text) : 0;
	for (unsigned i = 1; i < c->count; i++)
		for (size_t k = 0; k < n; k++)
			if (c->list[i].text[k] != c->list[0].text[k])
				n = k;
	while (n && ((unsigned char)c->list[0].text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

// ---- paths ----

static char *source_path(const struct complete_source *s, const char *base, const char *word)
{
	return path_of_word(base, word, s->bookmark, s->arg);
}

char *source_where(const struct complete_source *s, const struct cursor *c, char **ret_class)
{
	char *path = source_path(s, s->cwd, c->line.path ? c->line.path : ".");
	*ret_class = path && s->class_of ? s->class_of(s->arg, path) : NULL;
	return path;
}

// The names in the directory part of the word, each with its directory.
static void add_paths(struct work *w, const char *head, const char *base, const char *value)
{
	const char *slash = strrchr(value, '/');
	char *folder = strndup(value, slash ? (size_t)(slash + 1 - value) : 0), *front = NULL;
	char *path = folder ? source_path(w->source, base, *folder ? folder : ".") : NULL;
	struct json_object *list = NULL;
	if (path && w->source->children)
		list = w->source->children(w->source->arg, path);
	w->kind = KIND_PATH;
	if (!folder || asprintf(&front, "%s%s", head, folder) < 0)
		front = NULL;
	json_each (child, front ? list : NULL) {
		char *name = NULL;
		if (asprintf(&name, "%s/", text_field(child, "text")) > 1)
			add_value(w, front, name, text_field(child, "note"));
		free(name);
	}
	json_object_put(list);
	free(front);
	free(folder);
	free(path);
}

static void add_bookmarks(struct work *w, const char *head)
{
	w->kind = KIND_PATH;
	if (w->source->bookmarks)
		add_list(w, head, w->source->bookmarks(w->source->arg));
}

// ---- values ----

static void add_command(struct json_object *command, void *arg)
{
	struct work *w = arg;
	w->kind = KIND_COMMAND;
	add_value(w, "", text_field(command, "name"), text_field(command, "help"));
}

static void add_group(const char *group, struct json_object *rows, void *arg)
{
	struct work *w = arg;
	w->kind = KIND_OTHER;
	add_value(w, "", group, "");
}

static const char *group_given(const struct cursor *c, struct json_object *params)
{
	json_each (row, params)
		if (!strcmp(text_field(row, "type"), "group"))
			return line_value(&c->line, text_field(row, "name"),
					  (unsigned)(row_at - json_entries(params)));
	return NULL;
}

static void add_settings(struct work *w, struct json_object *params)
{
	const char *group = group_given(w->cursor, params);
	struct json_object *rows = group ? schema_group(w->source->schema, w->class, group) : NULL;
	w->kind = KIND_OTHER;
	json_each (row, rows)
		add_value(w, "", text_field(row, "name"), text_field(row, "help"));
}

static void add_bool(struct work *w, const char *head)
{
	add_words(w, head, "true|false");
}

static void add_files(struct work *w, const char *head)
{
	const char *value = w->cursor->value;
	if (w->source->files)
		add_list(w, head, w->source->files(w->source->arg, *value ? value : "/"));
}

static void add_nodes(struct work *w, const char *head)
{
	if (*w->cursor->value == '@' && !strchr(w->cursor->value, '/'))
		add_bookmarks(w, head);
	else
		add_paths(w, head, w->path, w->cursor->value);
}

static void add_known(struct work *w, const char *head, struct json_object *row)
{
	if (w->source->values)
		add_list(w, head,
			 w->source->values(w->source->arg, w->path, w->cursor->line.command,
					   text_field(row, "name"), w->cursor->value));
}

static void nothing(struct work *w, const char *head)
{
}

// Candidates for a type of the schema; the daemon provides those of types not listed here.
// Commands, groups and settings come from the schema itself.
static const struct {
	const char *type;
	void (*add)(struct work *w, const char *head);
} types[] = {
	{"bool",	  add_bool	   },
	       { "file",	 add_files	   },
	       { "node",	 add_nodes	   },
	{ "bookmark", add_bookmarks},
	       { "string",   nothing	   },
	       { "number",   nothing	   },
	{ "size",	  nothing	  },
	       { "choice",   nothing	   },
	       { "command",  nothing	    },
	{ "group",	   nothing	   },
	       { "setting",  nothing	    },
};

static void add_values(struct work *w, const char *head, struct json_object *row,
		       struct json_object *params)
{
	const char *type = text_field(row, "type"), *choices = text_field(row, "choices");
	if (!strcmp(type, "choice"))
		choices = text_field(row, "range");
	w->kind = KIND_VALUE;
	add_words(w, head, choices);
	if (!strcmp(type, "command"))
		schema_commands(w->source->schema, w->class, add_command, w);
	else if (!strcmp(type, "group"))
		schema_groups(w->source->schema, w->class, add_group, w);
	else if (!strcmp(type, "setting"))
		add_settings(w, params);
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (!strcmp(types[i].type, type)) {
			types[i].add(w, head);
			return;
		}
	if (!*choices)
		add_known(w, head, row);
}

// ---- rows ----

static struct json_object *params_of(const struct complete_source *s, const struct cursor *c,
				     const char *class)
{
	struct json_object *row =
		c->line.command ? schema_command(s->schema, class, c->line.command) : NULL;
	return json_field(row, "params");
}

// The settings that follow the parameters, if one is a group and none a setting.
static struct json_object *settings_of(const struct complete_source *s, const struct cursor *c,
				       const char *class, struct json_object *params)
{
	json_each (row, params)
		if (!strcmp(text_field(row, "type"), "setting"))
			return NULL;
	const char *group = group_given(c, params);
	return group ? schema_group(s->schema, class, group) : NULL;
}

struct json_object *row_at(const struct complete_source *s, const struct cursor *c,
			   const char *class, struct json_object **ret_rows)
{
	struct json_object *params = params_of(s, c, class), *row = NULL;
	size_t n = json_count(params);
	*ret_rows = settings_of(s, c, class, params);
	if (c->name) {
		row = row_find(params, c->name);
		return row ? row : row_find(*ret_rows, c->name);
	}
	if (c->position < n)
		return json_object_array_get_idx(params, c->position);
	// Several settings may follow.
	row = n ? json_object_array_get_idx(params, n - 1) : NULL;
	return !strcmp(text_field(row, "type"), "setting") ? row : NULL;
}

// "name=" for optional parameters without a value.
static void add_names(struct work *w, struct json_object *rows, size_t from)
{
	size_t n = json_count(rows);
	w->kind = KIND_KEYWORD;
	for (size_t i = from; i < n; i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		const char *name = text_field(row, "name");
		char *text = NULL;
		if (!*name || line_named(&w->cursor->line, name) || flag_field(row, "readonly") ||
		    flag_field(row, "required") || !strcmp(text_field(row, "type"), "setting"))
			continue;
		if (asprintf(&text, "%s=", name) > 0)
			add(w, "", text, text_field(row, "help"), 0);
		free(text);
	}
}

// ---- the current word ----

static void add_first_words(struct work *w)
{
	const struct cursor *c = w->cursor;
	const char *text = c->word.text;
	bool is_path = strchr(text, '/') || *text == '.';
	if (!c->line.path && *text == '@' && !is_path)
		add_bookmarks(w, "");
	else if (!c->line.path && (is_path || *text == '@'))
		add_paths(w, "", w->source->cwd, text);
	if (is_path || *text == '@')
		return;
	schema_commands(w->source->schema, w->class, add_command, w);
	if (!c->line.path)
		add_paths(w, "", w->source->cwd, text);
}

static void add_later_words(struct work *w)
{
	const struct cursor *c = w->cursor;
	struct json_object *settings, *params = params_of(w->source, c, w->class);
	struct json_object *row = row_at(w->source, c, w->class, &settings);
	char *head = NULL;
	if (row && asprintf(&head, "%s%s", c->name ? c->name : "", c->name ? "=" : "") >= 0) {
		add_values(w, head, row, params);
		free(head);
	}
	if (c->name)
		return;
	add_names(w, params, c->position);
	add_names(w, settings, 0);
}

void complete(const struct complete_source *s, const char *text, struct candidates *ret)
{
	struct cursor c;
	struct work w = { .source = s, .cursor = &c, .ret = ret };
	*ret = (struct candidates){ 0 };
	if (!cursor_find(&c, text))
		return;
	ret->start = c.word.start;
	w.path = source_where(s, &c, &w.class);
	if (w.path && !w.class)
		w.class = strdup("");
	if (w.path && w.class && !c.line.command)
		add_first_words(&w);
	else if (w.path && w.class)
		add_later_words(&w);
	free(w.path);
	free(w.class);
	cursor_done(&c);
}
