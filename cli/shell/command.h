// SPDX-License-Identifier: BSD-2-Clause
// The commands of the shell itself, a row and a file each; those of the daemon are in its schema.
// To add one: a file NAME.c that defines command_NAME, a declaration here, and its name in
// shell_commands (commands.c). Help, completion and hints use the row.
#pragma once

#include <stdbool.h>

#include "cli/shell/shell.h"

// Like a parameter's row of the daemon's schema. Types: string, number, bool, size, file, node (a
// path in the tree), command, bookmark, or words with | between them.
struct shell_param {
	const char *name, *type;
	bool is_required;
	const char *default_text; // default, NULL: none
	const char *help;
};

struct shell_command {
	const char *name;
	const struct shell_param *params; // ends with a NULL name; NULL: none
	const char *help;
	// path: the absolute path of the command. 0, or a negative errno with text. Writes to
	// s->look.out, as JSON where s->is_json. May block: SIGINT ends a wait with -EINTR.
	int (*run)(struct shell *s, const char *path, const struct line *l, struct err *e);
	bool is_open; // accepts values not in its rows: checks them itself
};

// Ends with NULL.
extern const struct shell_command *const shell_commands[];

// Checks the values against the rows. -EBADRQC with text.
int shell_command_check(const struct shell_command *c, const struct line *l, struct err *e);

// Adds to the error of a command the value that it is about: its texts quote what they reject.
void shell_command_part(const struct line *l, struct err *e);

// NULL: not a command of the shell.
const struct shell_command *shell_command_find(const struct shell_command *const *commands,
					       const char *name);

// The rows as "shell" of the schema: a list like "every_node". For json_object_put().
struct json_object *shell_commands_json(const struct shell_command *const *commands);
// Fills s->schema with the daemon's schema and "shell", unless it is set. 0 or a negative errno
// with text. Blocks.
int shell_schema(struct shell *s, struct err *e);

// Changes the current path to an absolute path; is_new: adds it to the history of `cd <`. -ENOENT.
int shell_go(struct shell *s, const char *path, bool is_new, struct err *e);
// As shell_go() to a new path that is known to exist.
void shell_enter(struct shell *s, const char *path);
// Saves the path for the user's next shell.
void shell_keep_place(struct shell *s);
// Prints the current path if s->is_json. 0.
int shell_show_place(struct shell *s);
// Prints a line; with s->is_json in the daemon's form: an object with "messages".
void shell_say(struct shell *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
// Lets the user at a terminal choose a node, and goes there. -EBADRQC: not a terminal.
int shell_pick(struct shell *s, struct err *e);

extern const struct shell_command command_bookmarks, command_cd, command_doctor, command_exit,
	command_export, command_get, command_help, command_ls, command_pwd, command_quit,
	command_sessions, command_session, command_top, command_explain, command_boot_info,
	command_boot_check;
