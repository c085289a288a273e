// SPDX-License-Identifier: BSD-2-Clause
#include "cli/set.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/shell/command.h"
#include "cli/shell/global.h"
#include "cli/shell/schema.h"

bool global_is_set(const struct line *l)
{
	const char *group = NULL;
	if (l->command && !strcmp(l->command, "set"))
		group = line_value(l, "group", 0);
	return group && !strcmp(group, GLOBAL_GROUP);
}

// The preferences of the shell in a line, and their effect.
struct change {
	struct preferences all;
	unsigned count;
	const struct attr_row *rows[LINE_WORDS_MAX];
};

static int check(const struct shell *s, const struct line *l, struct change *ret, struct err *e)
{
	int r = 0;
	ret->all = s->prefs;
	ret->count = 0;
	for (unsigned i = 0; !r && i < l->count; i++) {
		const struct line_value *v = &l->values[i];
		const struct attr_row *row = v->name ? attr_find(preference_rows, v->name) : NULL;
		if (!row)
			continue;
		r = preference_set(&ret->all, v->name, v->text, e);
		if (r < 0)
			err_at(e, ERR_PART_NAME, 0, v->name);
		ret->rows[ret->count++] = row;
	}
	return r;
}

// The part of the line for the daemon, for json_object_put(); NULL: none, do not ask it.
static struct json_object *rest_of(struct json_object *params, const struct change *c)
{
	struct json_object *named = json_field(params, "named");
	for (unsigned i = 0; i < c->count; i++)
		json_object_object_del(named, c->rows[i]->name);
	// The group has settings of both.
	size_t left = json_count(json_field(params, "positional")) +
		      (size_t)json_object_object_length(named);
	if (!c->count || left > 1)
		return params;
	json_object_put(params);
	return NULL;
}

static int keep(struct shell *s, const struct change *c, struct err *e)
{
	struct preference_change list[LINE_WORDS_MAX];
	char texts[LINE_WORDS_MAX][32];
	for (unsigned i = 0; i < c->count; i++) {
		preference_text(c->rows[i], &c->all, texts[i], sizeof texts[i]);
		list[i] = (struct preference_change){ c->rows[i]->name, texts[i] };
	}
	int r = c->count ? preferences_save(list, c->count, e) : 0;
	if (r < 0)
		return r;
	s->prefs = c->all;
	look_choose(&s->look);
	return 0;
}

static struct json_object *list_in(struct json_object *o, const char *key)
{
	struct json_object *list = json_field(o, key);
	if (json_object_is_type(list, json_type_array))
		return list;
	list = json_object_new_array();
	json_object_object_add(o, key, list);
	return list;
}

static void say(struct json_object *answer, const struct change *c)
{
	if (!json_object_is_type(answer, json_type_object))
		return;
	struct json_object *messages = list_in(answer, "messages");
	struct json_object *levels = list_in(answer, "levels");
	for (unsigned i = 0; i < c->count; i++) {
		char text[32], line[128];
		preference_text(c->rows[i], &c->all, text, sizeof text);
		snprintf(line, sizeof line, "Parameter %s is now '%s'.", c->rows[i]->name, text);
		json_object_array_add(messages, json_object_new_string(line));
		json_object_array_add(levels, json_object_new_string("info"));
	}
}

int global_set(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	struct change c;
	struct json_object *params = NULL, *answer = NULL;
	int r = shell_params_at(s, path, l, &params, e);
	if (!r)
		r = check(s, l, &c, e);
	if (r < 0) {
		json_object_put(params);
		return r;
	}
	params = rest_of(params, &c);
	if (params)
		r = shell_ask(s, params, &answer, e);
	else
		answer = json_object_new_object();
	if (!r)
		r = keep(s, &c, e);
	if (!r)
		say(answer, &c);
	if (!r)
		r = shell_show_answer(s, l, answer, e);
	json_object_put(answer);
	return r;
}
