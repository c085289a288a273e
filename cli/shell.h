// SPDX-License-Identifier: BSD-2-Clause
// Running lines: the few commands that are the shell's own (command.h), and all others, which the
// daemon knows. Blocks.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/client.h"
#include "cli/grammar.h"
#include "cli/show.h"

struct state_lines;

struct shell {
	const char *socket;
	bool is_json;
	bool wants_exit;
	bool has_revision; // changes are refused unless the configuration is at this one
	uint64_t revision;
	bool has_transaction; // begun here and, when the daemon last answered, open
	bool keeps_going;     // a batch goes on behind an error
	bool is_interactive;  // somebody sits at a prompt: places and history are kept
	bool has_own_stdin;   // standard input is the batch
	char *cwd;	      // absolute path
	struct client client;
	struct look look;
	struct preferences prefs;   // those that are not farblockd's
	struct json_object *schema; // asked for when first needed
	struct state_lines *places; // where cd was, the last one is cwd; NULL: nowhere yet
	unsigned place;		    // which of them we are at
	// A line that is there already (pasted, or of the batch), for free(); NULL: none. May be
	// NULL.
	char *(*next_line)(void *arg);
	void *next_line_arg;
};

// With preferences as delivered. s stays where it is: its look points into it.
void shell_init(struct shell *s, const char *socket, bool is_json);
void shell_done(struct shell *s);

// Runs one line; what went wrong is in e (nothing is printed about it). Its secrets are asked for
// and put into l.
enum status shell_run(struct shell *s, struct line *l, struct err *e);

// Reads lines from fd until its end or the first error, which is told as NAME:LINE: text. Lines
// that are there already go to the daemon together; it answers when they are saved.
enum status shell_batch(struct shell *s, int fd, const char *name);
// The absolute path that a word of a line is: of a bookmark, or from base on. For free(). -ENOENT:
// no such bookmark.
int shell_path(const char *base, const char *word, char **ret, struct err *e);
// A file's path from / on, as the daemon has another working folder. For free(); NULL: no memory.
char *shell_whole_path(const char *file);
// {"path": path}, for json_object_put().
struct json_object *params_at(const char *path);

// For shell_batch. Whether the line is for the daemon to run as it is; then its parameters of
// tree.run, for json_object_put(), a call of a method, and the daemon's answer shown.
bool shell_is_remote(const struct shell *s, const struct line *l);
int shell_params(struct shell *s, const struct line *l, struct json_object **ret, struct err *e);
int shell_call(struct shell *s, const char *method, struct json_object *params,
	       struct json_object **ret, struct err *e);
// The same for a line at an absolute path, and tree.run of them: takes params over.
int shell_params_at(const char *path, const struct line *l, struct json_object **ret,
		    struct err *e);
int shell_ask(struct shell *s, struct json_object *params, struct json_object **ret, struct err *e);
// At which revision it left things, and whether a transaction is open.
void shell_saw(struct shell *s, struct json_object *answer);
// -EREMOTEIO: done, but for errors that can be recovered from.
int shell_show_answer(struct shell *s, const struct line *l, struct json_object *answer,
		      struct err *e);
// Line editing and history until exit or end of file; errors are told and do not end it.
enum status shell_interactive(struct shell *s);
// Prints, a line each, what the last word of line may become, a tab, and what that is.
enum status shell_complete(struct shell *s, const char *line);
