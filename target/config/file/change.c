// SPDX-License-Identifier: BSD-2-Clause
// The origin of the next save: its commands and their users. It is in the saved file, so that
// `generations` can show the commands after each generation. Control thread.

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/file/saved_file.h"

enum { COMMANDS_MAX = 20, COMMAND_MAX = 200 }; // `generations` reads only the beginning of a file

unsigned change_mark(const struct config *c)
{
	return (unsigned)json_object_array_length(c->saved->commands) + c->saved->more;
}

void change_back_to(struct config *c, unsigned mark)
{
	size_t n = json_object_array_length(c->saved->commands);
	c->saved->more = mark > n ? mark - (unsigned)n : 0;
	if (mark < n)
		json_object_array_del_idx(c->saved->commands, mark, n - mark);
}

void change_add(struct config *c, const char *path, const struct command_row *row,
		struct json_object *positional, struct json_object *named)
{
	char text[COMMAND_MAX + 1];
	if (row->is_readonly || row->is_unrecorded)
		return;
	if (json_object_array_length(c->saved->commands) >= COMMANDS_MAX) {
		c->saved->more++;
		return;
	}
	audit_text(text, sizeof text, strcmp(path, "/") ? path : "", row, positional, named);
	json_add_text(c->saved->commands, text);
}

void change_end(struct config *c, unsigned mark, int code, bool is_joined)
{
	if (!is_joined)
		change_back_to(c, 0);
	else if (code < 0)
		change_back_to(c, mark);
}

struct json_object *change_json(const struct config *c)
{
	struct json_object *o = json_object_new_object(), *commands = NULL;
	json_object_deep_copy(c->saved->commands, &commands, NULL);
	json_object_object_add(o, "commands", commands);
	if (c->saved->more)
		json_put_number(o, "more", c->saved->more);
	if (!c->caller.id)
		return o;
	json_put_number(o, "process", c->caller.pid);
	json_put_number(o, "uid", c->caller.uid);
	return o;
}

void change_mark_edit(struct json_object *change)
{
	json_put_bool(change, "edited", true);
}

bool change_replaced_edit(struct json_object *change)
{
	return json_object_get_boolean(json_field(change, "edited"));
}

static void add(struct json_text *t, const char *text)
{
	if (t->text && *t->text)
		json_text_put(t, "; ");
	json_text_put(t, text);
}

static void put_commands(struct json_object *change, struct json_object *to)
{
	struct json_object *list = json_field(change, "commands");
	struct json_text t = { 0 };
	char more[32];
	if (!json_object_is_type(list, json_type_array))
		return;
	json_each (command, list)
		if (json_scalar(command))
			add(&t, json_scalar(command));
	snprintf(more, sizeof more, "and %lld more",
		 (long long)json_object_get_int64(json_field(change, "more")));
	if (json_field(change, "more"))
		add(&t, more);
	json_put_text(to, "change", t.text);
	free(t.text);
}

// The user's name, of local users only: a name service may take long to answer. False: not known.
static bool user_name(long long uid, char *ret, size_t size)
{
	FILE *f = fopen("/etc/passwd", "re");
	const struct passwd *p = NULL;
	while (f && (p = fgetpwent(f)) && (long long)p->pw_uid != uid)
		;
	if (p)
		snprintf(ret, size, "%s", p->pw_name);
	if (f)
		fclose(f);
	return p != NULL;
}

void change_tell(struct json_object *change, struct json_object *to)
{
	char who[128], name[64];
	put_commands(change, to);
	if (!json_field(change, "uid"))
		return;
	long long uid = json_object_get_int64(json_field(change, "uid"));
	if (!user_name(uid, name, sizeof name))
		snprintf(name, sizeof name, "uid %lld", uid);
	snprintf(who, sizeof who, "%s, process %lld", name,
		 (long long)json_object_get_int64(json_field(change, "process")));
	json_put_text(to, "by", who);
}
