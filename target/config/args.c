// SPDX-License-Identifier: BSD-2-Clause
// Checks arguments of commands against their rows.
#include "target/config/class.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/utf8.h"
#include "core/json/json.h"

const struct command_row *command_find(const struct node_class *class, const char *name)
{
	for (const struct command_row *c = class->commands; c && c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	for (const struct command_row *c = every_node_commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static int row_index(const struct param_row *rows, const char *name)
{
	for (int i = 0; rows && rows[i].name; i++)
		if (!strcmp(rows[i].name, name) || (rows[i].alias && !strcmp(rows[i].alias, name)))
			return i;
	return -1;
}

static int check_type(const struct param_row *row, const char *text, struct err *e)
{
	uint64_t bytes;
	bool is;
	char *end;
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
	case PARAM_NODE:
	case PARAM_CHILD:
	case PARAM_STORAGE:
	case PARAM_LUN:
		if (*text)
			return 0;
		return err_set(e, -EINVAL, "%s: empty (%s)", row->name, row->help);
	case PARAM_FILE:
		if (!*text)
			return err_set(e, -EINVAL, "%s: empty (%s)", row->name, row->help);
		// H:C:T:L is a SCSI address.
		if (*text == '/' || (*text && !text[strspn(text, "0123456789:")]))
			return 0;
		return err_set(e, -EINVAL,
			       "%.200s: not an absolute path (farblockd does not run in "
			       "your directory)",
			       text);
	default:
		return 0;
	}
}

static int take(const struct param_row *rows, int i, struct json_object *value, struct args *a,
		struct err *e)
{
	const char *text = json_scalar(value);
	if (!text)
		return err_set(e, -EINVAL, "%s: not a string, number or boolean", rows[i].name);
	if (a->is_given[i])
		return err_set(e, -EBADRQC, "Duplicate parameter %s.", rows[i].name);
	a->value[i] = text;
	a->is_given[i] = true;
	return check_type(&rows[i], text, e);
}

static int take_positional(const struct param_row *rows, struct json_object *list, struct args *a,
			   struct err *e)
{
	size_t n = list ? json_object_array_length(list) : 0, count = 0;
	while (rows && rows[count].name)
		count++;
	if (n > count)
		return err_set(e, -EBADRQC, "Got %zu positional parameters, expected at most %zu.",
			       n, count);
	for (size_t i = 0; i < n; i++) {
		int r = take(rows, (int)i, json_object_array_get_idx(list, i), a, e);
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
			if (i < 0)
				return err_set(e, -EBADRQC, "Unexpected keyword parameter '%.60s'.",
					       key);
			r = take(rows, i, value, a, e);
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
	json_object_array_add(r->messages, json_object_new_string(line));
}
