// SPDX-License-Identifier: BSD-2-Clause
// Checks arguments of commands against their rows.

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"
#include "target/config/tree/tree.h"

static const struct command_row *find_in(const struct command_row *rows, const char *name)
{
	for (; rows && rows->name; rows++)
		if (!strcmp(rows->name, name))
			return rows;
	return NULL;
}

const struct command_row *command_find(const struct config *c, const struct node_class *class,
				       const char *name)
{
	const struct command_row *row = find_in(class->commands, name);
	return row ? row : find_in(c->every_node, name);
}

const struct command_row *command_whole(const struct config *c, const char *name)
{
	const struct command_row *row = find_in(c->root.class->commands, name);
	return row && row->is_whole ? row : NULL;
}

const struct param_row *param_find(const struct param_row *rows, const char *name)
{
	for (const struct param_row *p = rows; p && p->name; p++)
		if (!strcmp(p->name, name) || (p->alias && !strcmp(p->alias, name)))
			return p;
	return NULL;
}

static int row_index(const struct param_row *rows, const char *name)
{
	const struct param_row *p = param_find(rows, name);
	return p ? (int)(p - rows) : -1;
}

static int check_type(const struct param_row *row, const char *text, struct err *e)
{
	uint64_t bytes;
	bool is;
	char *end;
	if (!*text && row->type >= PARAM_FILE && row->type <= PARAM_LUN)
		return err_set(e, -EINVAL, "%s: empty (%s)", row->name, row->help);
	switch (row->type) {
	case PARAM_BOOL:
		if (!parse_bool(text, &is))
			return err_set(e, -EINVAL, "Syntax error, '%.60s' is not true|false.",
				       text);
		return 0;
	case PARAM_NUMBER:
	case PARAM_SESSION:
		strtoll(text, &end, 10);
		if (!*text || *end)
			return err_set(e, -EINVAL, "Syntax error, '%.60s' is not a NUMBER.", text);
		return 0;
	case PARAM_SIZE:
		return parse_size(text, &bytes, e);
	case PARAM_DOCUMENT:
	case PARAM_COPY:
		if (*text == '/')
			return 0;
		return err_set(e, -EREMOTE, "%.200s: not an absolute path", text);
	case PARAM_FILE:
		// H:C:T:L is a SCSI address.
		if (*text == '/' || !text[strspn(text, "0123456789:")])
			return 0;
		return err_set(e, -EINVAL,
			       "%.200s: not an absolute path (farblockd does not run in "
			       "your directory)",
			       text);
	default:
		return 0;
	}
}

bool param_is_of_client(const struct param_row *row)
{
	return row->type == PARAM_DOCUMENT || row->type == PARAM_COPY;
}

// key: NULL: by position.
static int take(const struct param_row *rows, int i, const char *key, struct json_object *value,
		struct args *a, struct err *e)
{
	bool has_content =
		param_is_of_client(&rows[i]) && json_object_is_type(value, json_type_object);
	const char *text = has_content ? json_text(value, "name") : json_scalar(value);
	if (!text)
		return err_set(e, -EINVAL, "%s: not a string, number or boolean", rows[i].name);
	if (a->is_given[i])
		return err_set(e, -EBADRQC, "Duplicate parameter %s.", rows[i].name);
	a->value[i] = text;
	a->is_given[i] = true;
	a->key[i] = key;
	a->content[i] = has_content ? value : NULL;
	int r = check_type(&rows[i], text, e);
	if (r == -EREMOTE)
		arg_at(a, rows[i].name, e);
	return r;
}

static int take_positional(const struct param_row *rows, struct json_object *list, struct args *a,
			   struct err *e)
{
	size_t n = json_count(list), count = 0;
	while (rows && rows[count].name)
		count++;
	if (n > count) {
		err_set(e, -EBADRQC, "Got %zu positional parameters, expected at most %zu.", n,
			count);
		return err_at(e, ERR_PART_POSITION, (unsigned)count, NULL), -EBADRQC;
	}
	for (size_t i = 0; i < n; i++) {
		int r = take(rows, (int)i, NULL, json_object_array_get_idx(list, i), a, e);
		if (r < 0)
			return r;
	}
	return 0;
}

static int complain_missing(const struct args *a, struct err *e)
{
	char names[160] = "";
	unsigned missing = 0;
	size_t used = 0;
	for (int i = 0; a->rows && a->rows[i].name; i++)
		if (a->rows[i].is_required && !a->value[i] && used < sizeof names) {
			used += (size_t)snprintf(names + used, sizeof names - used, "%s'%s'",
						 missing ? ", " : "", a->rows[i].name);
			missing++;
		}
	if (!missing)
		return 0;
	if (missing > 1)
		return err_set(e, -EBADRQC, "Missing required parameters %s", names);
	names[used - 1] = 0;
	return err_set(e, -EBADRQC, "Missing required parameter %s", names + 1);
}

int args_parse(const struct param_row *rows, struct json_object *positional,
	       struct json_object *named, struct args *a, struct err *e)
{
	*a = (struct args){ .rows = rows };
	if (positional && !json_object_is_type(positional, json_type_array))
		return err_set(e, -EINVAL, "positional: not an array");
	if (named && !json_object_is_type(named, json_type_object))
		return err_set(e, -EINVAL, "named: not an object");
	int r = take_positional(rows, positional, a, e);
	if (r < 0)
		return r;
	if (named) {
		json_object_object_foreach(named, key, value)
		{
			int i = row_index(rows, key);
			if (i < 0) {
				err_set(e, -EBADRQC, "Unexpected keyword parameter '%.60s'.", key);
				return err_at(e, ERR_PART_NAME, 0, key), -EBADRQC;
			}
			r = take(rows, i, key, value, a, e);
			if (r < 0)
				return r;
		}
	}
	for (int i = 0; rows && rows[i].name; i++)
		if (!a->value[i])
			a->value[i] = rows[i].default_text;
	return complain_missing(a, e);
}

const char *arg(const struct args *a, const char *name)
{
	int i = row_index(a->rows, name);
	return i < 0 ? NULL : a->value[i];
}

int arg_at(const struct args *a, const char *name, struct err *e)
{
	int i = row_index(a->rows, name);
	if (i < 0 || !a->is_given[i])
		return e ? e->code : 0;
	return err_at(e, a->key[i] ? ERR_PART_NAME : ERR_PART_POSITION, a->key[i] ? 0 : (unsigned)i,
		      a->key[i]);
}

struct json_object *arg_content(const struct args *a, const char *name)
{
	int i = row_index(a->rows, name);
	return i < 0 ? NULL : a->content[i];
}

bool arg_given(const struct args *a, const char *name)
{
	int i = row_index(a->rows, name);
	return i >= 0 && a->is_given[i];
}

bool arg_bool(const struct args *a, const char *name, bool absent)
{
	const char *text = arg(a, name);
	return text ? is_yes(text) : absent;
}

static const char *level_of(const char *text)
{
	return !strncmp(text, "Warning", 7) ? "warning"
	       : !strncmp(text, "Note", 4)  ? "note"
					    : "info";
}

void reply_levels(struct reply *r, const struct command_row *row)
{
	r->is_report = row->is_readonly || row->is_report || r->has_secret;
	if (row->is_readonly || !json_count(r->messages))
		return;
	json_object_put(r->levels);
	r->levels = json_object_new_array();
	json_each (text, r->messages)
		json_add_text(r->levels, level_of(json_object_get_string(text)));
}

int reply_file(struct reply *r, const char *name, char *text, struct err *e)
{
	if (!text)
		return err_set(e, -ENOMEM, "%s: out of memory", name);
	r->file = json_object_new_object();
	json_put_text(r->file, "name", name);
	json_put_text(r->file, "text", text);
	explicit_bzero(text, strlen(text));
	free(text);
	return 0;
}

void reply_say(struct reply *r, const char *fmt, ...)
{
	char line[512];
	va_list ap;
	if (!r)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	utf8_tame(line);
	if (!r->messages)
		r->messages = json_object_new_array();
	json_add_text(r->messages, line);
	if (r->levels)
		json_add_text(r->levels, level_of(line));
}

void reply_done(struct reply *r)
{
	json_object_put(r->messages);
	json_object_put(r->data);
	json_object_put(r->created);
	json_object_put(r->file);
	json_object_put(r->levels);
	*r = (struct reply){ 0 };
}
