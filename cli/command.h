// SPDX-License-Identifier: BSD-2-Clause
// The commands that are the shell's own, a row and a file each; the daemon's are in its schema.
// To add one: a file cli/NAME.c that defines command_NAME, a declaration here, and its name in
// shell_commands (commands.c). Help, completion and hints take it from there.
#pragma once

#include <stdbool.h>

#include "cli/shell.h"

// As a parameter's row of the daemon's schema. Types: string, number, bool, size, file, node (a
// path in the tree), command, bookmark, or words with | between them.
struct shell_param {
	const char *name, *type;
	bool is_required;
	const char *default_text; // what an absent one means, NULL: nothing
	const char *help;
};

struct shell_command {
	const char *name;
	const struct shell_param *params; // ends with a NULL name; NULL: none
	const char *help;
	// path: the absolute path the command is for. 0, or a negative errno with text. Writes to
	// s->look.out, as JSON where s->is_json. May block: a SIGINT ends waiting with -EINTR.
	int (*run)(struct shell *s, const char *path, const struct line *l, struct err *e);
	bool is_open; // knows words that the rows have not: looks at its values itself
};

// Ends with NULL.
extern const struct shell_command *const shell_commands[];

// Whether the values are those of the rows. -EBADRQC with text.
int shell_command_check(const struct shell_command *c, const struct line *l, struct err *e);

// NULL: the shell has no such command.
const struct shell_command *shell_command_find(const char *name);

// The rows as the schema's "shell": a list like "every_node". For json_object_put().
struct json_object *shell_commands_json(void);
// Fills s->schema, the daemon's with "shell" beside it, unless it is there. 0 or a negative errno
// with text. Blocks.
int shell_schema(struct shell *s, struct err *e);

// Makes an absolute path the shell's; is_new: it is a further place of `cd <`. -ENOENT.
int shell_go(struct shell *s, const char *path, bool is_new, struct err *e);
// As shell_go to a further place that is known to be there.
void shell_enter(struct shell *s, const char *path);
// For the next shell of the user, which begins where this one is.
void shell_keep_place(struct shell *s);
// With s->is_json the path where the shell is. 0.
int shell_show_place(struct shell *s);
// A line of words; with s->is_json as the daemon's: an object with "messages".
void shell_say(struct shell *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
// Lets somebody at a terminal choose a node, and goes there. -EBADRQC: nobody is there.
int shell_pick(struct shell *s, struct err *e);

extern const struct shell_command command_bookmarks, command_cd, command_doctor, command_exit,
	command_export, command_get, command_help, command_ls, command_pwd, command_quit,
	command_sessions, command_session, command_top, command_explain;
