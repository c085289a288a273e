// SPDX-License-Identifier: BSD-2-Clause
// The hint: names of the values that follow.
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/client.h"
#include "cli/edit/complete.h"
#include "cli/shell/schema.h"

struct out {
	char *text;
	size_t len, size;
};

static void put(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct out *o, const char *fmt, ...)
{
	va_list args;
	if (o->len + 1 >= o->size)
		return;
	va_start(args, fmt);
	int n = vsnprintf(o->text + o->len, o->size - o->len, fmt, args);
	va_end(args);
	o->len += n < 0 ? 0 : (size_t)n;
	if (o->len >= o->size)
		o->len = o->size - 1;
}

static void put_param(struct out *o, struct json_object *row)
{
	const char *name = text_field(row, "name"), *absent = text_field(row, "default");
	const char *blank = o->len ? " " : "";
	if (flag_field(row, "required"))
		put(o, "%s%.60s", blank, name);
	else
		put(o, "%s[%.60s%s%.60s]", blank, name, *absent ? "=" : "", absent);
}

static void put_params(struct out *o, const struct line *l, struct json_object *params, size_t from)
{
	json_each (row, params)
		if ((size_t)(row_at - json_entries(params)) >= from &&
		    !line_named(l, text_field(row, "name")))
			put_param(o, row);
}

// After "name=": its values.
static void put_value(struct out *o, struct json_object *row)
{
	const char *range = text_field(row, "range"), *unit = text_field(row, "unit");
	const char *choices = text_field(row, "choices"), *absent = text_field(row, "default");
	const char *type = text_field(row, "type");
	const char *what = *range ? range : *choices ? choices : type;
	if (!strcmp(type, "bool") && !*range)
		what = "true|false";
	put(o, "%.80s%s%.20s", what, *unit ? " " : "", unit);
	if (*absent)
		put(o, " (default %.60s)", absent);
}

static void put_rest(struct out *o, const struct complete_source *s, const struct cursor *c,
		     const char *class)
{
	struct json_object *settings;
	struct json_object *row = row_at(s, c, class, &settings);
	bool has_begun = *c->word.text;
	if (c->name) {
		if (row && !*c->value)
			put_value(o, row);
		return;
	}
	// The incomplete word may be the command itself.
	const char *name = c->line.command ? c->line.command : c->word.text;
	struct json_object *command = schema_command(s->schema, class, name);
	struct json_object *params = json_field(command, "params");
	size_t from = c->line.command ? c->position + has_begun : 0;
	put_params(o, &c->line, params, from);
	if (settings && from >= json_count(params))
		put(o, "%sname=value ...", o->len ? " " : "");
}

size_t hint(const struct complete_source *s, const char *text, char *out, size_t size)
{
	struct cursor c;
	char *class = NULL, *path;
	*out = 0;
	if (!cursor_find(&c, text))
		return 0;
	bool has_word = *c.word.text || c.line.command;
	size_t gap = *c.word.text && !c.name; // needs a blank before it
	struct out o = { out + gap, 0, size - gap };
	path = has_word && !c.word.is_quoted ? source_where(s, &c, &class) : NULL;
	o.text[0] = 0;
	if (path && class)
		put_rest(&o, s, &c, class);
	for (size_t i = 0; i < o.len; i++)
		if (iscntrl((unsigned char)o.text[i]))
			o.text[i] = '?';
	if (gap)
		*out = o.len ? ' ' : 0;
	free(path);
	free(class);
	cursor_done(&c);
	return o.len ? o.len + gap : 0;
}
