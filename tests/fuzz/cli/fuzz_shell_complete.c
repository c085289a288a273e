// SPDX-License-Identifier: BSD-2-Clause
// Completion, hints and what is said of a failure, with a schema and answers of any shape: the
// bytes before the first NUL are a line, those up to the next the schema, the rest what the daemon
// answers.
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/command.h"
#include "cli/edit/complete.h"
#include "cli/failure.h"
#include "cli/edit/history.h"
#include "cli/edit/menu.h"
#include "cli/shell/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct json_object *answer;

static struct json_object *answer_path(void *arg, const char *path)
{
	return json_object_get(answer);
}

static struct json_object *answer_none(void *arg)
{
	return json_object_get(answer);
}

static struct json_object *answer_values(void *arg, const char *path, const char *command,
					 const char *parameter, const char *prefix)
{
	if (!path || !command || !parameter || !prefix)
		abort();
	return json_object_get(answer);
}

static char *class_of(void *arg, const char *path)
{
	return *path == '/' ? strdup("c") : NULL;
}

static char *bookmark(void *arg, const char *name)
{
	return *name == 'x' ? NULL : strdup("/a");
}

static void check_text(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			abort();
}

static void try_line(const struct complete_source *s, const char *line, FILE *null)
{
	struct candidates c;
	char out[64];
	complete(s, line, &c);
	for (unsigned i = 0; i < c.count; i++)
		check_text(c.list[i].note);
	if (c.start > strlen(line) || (c.count && candidates_common(&c) > strlen(c.list[0].text)))
		abort();
	const struct look l = { .out = null, .has_color = true };
	menu_draw(&l, &c, 20);
	candidates_done(&c);
	if (hint(s, line, out, sizeof out) >= sizeof out)
		abort();
	check_text(out);
	history_may_keep(s->schema, shell_commands, line);
}

static void try_failures(const struct complete_source *s, const char *line)
{
	static const int codes[] = { -ENOSYS, -ENOENT, -EBADRQC, -EINVAL };
	struct script script;
	struct err e;
	size_t at;
	if (!script_parse(&script, line, &at, &e) && script.count)
		for (int i = 0; i < 4; i++) {
			struct cause cause;
			err_set(&e, codes[i], "'a' is wrong");
			failure_find(s->schema, "c", &script.lines[0], &e, &cause);
			if (cause.at != SIZE_MAX && cause.at >= strlen(line))
				abort();
			free(cause.meant);
		}
	script_done(&script);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *null;
	if (!null)
		null = fopen("/dev/null", "w");
	char *text = calloc(1, size + 3);
	memcpy(text, data, size);
	char *schema = text + strlen(text) + 1, *rest = schema + strlen(schema) + 1;
	if (rest > text + size + 2)
		rest = text + size + 2;
	answer = json_tokener_parse(rest);
	struct complete_source s = {
		.schema = json_tokener_parse(schema),
		.cwd = "/a",
		.bookmark = bookmark,
		.class_of = class_of,
		.children = answer_path,
		.files = answer_path,
		.bookmarks = answer_none,
		.values = answer_values,
	};
	if (json_object_is_type(s.schema, json_type_object))
		json_object_object_add(s.schema, "shell", shell_commands_json(shell_commands));
	try_line(&s, text, null);
	try_failures(&s, text);
	json_object_put(s.schema);
	json_object_put(answer);
	free(text);
	return 0;
}
