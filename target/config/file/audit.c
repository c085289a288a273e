// SPDX-License-Identifier: BSD-2-Clause
// Audit log: a line for each successful command with its user. Control thread.
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "core/utf8.h"
#include "target/config/file/saved_file.h"

struct words {
	char text[700];
	size_t used;
};

static void add(struct words *w, const char *name, const char *value)
{
	if (w->used < sizeof w->text)
		w->used += (size_t)snprintf(w->text + w->used, sizeof w->text - w->used, " %s%s%s",
					    name, *name && value ? "=" : "", value ? value : "");
}

// A file of the client appears by its name.
static const char *text_of(struct json_object *value)
{
	const char *name = json_text(value, "name");
	return name ? name : json_scalar(value);
}

// Only the names of settings: a value may be a secret.
static void add_all(struct words *w, struct json_object *positional, struct json_object *named,
		    bool is_set)
{
	size_t n = json_count(positional);
	for (size_t i = 0; i < n && (i < 1 || !is_set); i++)
		add(w, "", text_of(json_object_array_get_idx(positional, i)));
	if (!json_object_is_type(named, json_type_object))
		return;
	json_object_object_foreach(named, name, value)
	{
		bool is_shown = !is_set || !strcmp(name, "group");
		add(w, name, is_shown ? text_of(value) : NULL);
	}
}

void audit_text(char *out, size_t size, const char *path, const struct command_row *row,
		struct json_object *positional, struct json_object *named)
{
	struct words w = { .text = "" };
	add_all(&w, positional, named, !row->run);
	snprintf(out, size, "%s%s%s%s", path, *path ? " " : "", row->name, w.text);
	utf8_tame(out); // it may be truncated
}

void audit_change(const struct config *c, const char *path, const struct command_row *row,
		  struct json_object *positional, struct json_object *named)
{
	char text[1400];
	if (!c->caller.id || row->is_readonly) // the daemon itself, and read-only commands
		return;
	audit_text(text, sizeof text, path, row, positional, named);
	log_info("uid %u, process %d: %s", c->caller.uid, c->caller.pid, text);
}
