// SPDX-License-Identifier: BSD-2-Clause
// What a command has answered, for the user.
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/bookmarks.h"
#include "cli/shell/command.h"
#include "cli/shell/files.h"

void shell_say(struct shell *s, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text && s->is_json) {
		struct json_object *o = json_object_new_object(), *list = json_object_new_array();
		json_object_array_add(list, json_object_new_string(text));
		json_object_object_add(o, "messages", list);
		show_json_once(&s->look, o);
	} else if (text) {
		fprintf(s->look.out, "%s\n", text);
	}
	free(text);
}

// Whether loglevel_console permits a message; level NULL: it is part of the result.
static bool is_wanted(const struct shell *s, const char *level)
{
	uint32_t wanted = s->prefs.loglevel_console;
	return !level || wanted >= LEVEL_INFO ||
	       (wanted == LEVEL_WARNING && !strcmp(level, "warning"));
}

static void show_messages(struct shell *s, struct json_object *o)
{
	struct json_object *messages = json_field(o, "messages");
	struct json_object *levels = json_field(o, "report") ? NULL : json_field(o, "levels");
	for (size_t i = 0; i < json_count(messages); i++) {
		const char *text = json_object_get_string(json_object_array_get_idx(messages, i));
		struct json_object *level =
			i < json_count(levels) ? json_object_array_get_idx(levels, i) : NULL;
		if (text && is_wanted(s, level ? json_object_get_string(level) : NULL))
			fprintf(s->look.out, "%s\n", text);
	}
}

static void show_reply(struct shell *s, struct json_object *o)
{
	struct json_object *messages = json_field(o, "messages"), *data = json_field(o, "data");
	const char *view = text_field(o, "view");
	if (s->is_json) {
		bool has_words = json_count(messages);
		json_object_object_del(o, "levels"); // these are about the terminal
		json_object_object_del(o, "report");
		json_object_object_del(o, "view");
		show_json(&s->look, data && !has_words ? data : o);
		return;
	}
	show_messages(s, o);
	if (!data || !strcmp(view, "messages"))
		return;
	if (!strcmp(view, "refusals")) {
		show_refusals(&s->look, data);
	} else {
		show_data(&s->look, data);
	}
}

static void enter(struct shell *s, const char *path)
{
	shell_enter(s, path);
	if (s->is_interactive && !s->is_json && s->prefs.loglevel_console >= LEVEL_INFO)
		fprintf(s->look.out, "Entering new node %s\n", path);
}

int shell_show_answer(struct shell *s, const struct line *l, struct json_object *answer,
		      struct err *e)
{
	int errors = json_object_get_int(json_field(answer, "recoverable_errors"));
	int r = files_write(l, answer, e);
	if (r < 0)
		return r;
	const char *created = text_field(answer, "created");
	if (*created)
		bookmark_last(created, s->is_interactive);
	show_reply(s, answer);
	if (*created && s->prefs.auto_cd_after_create)
		enter(s, created);
	if (!errors)
		return 0;
	return err_set(e, -EREMOTEIO, "%s: %d recoverable errors, shown above", l->command, errors);
}
