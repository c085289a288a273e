// SPDX-License-Identifier: BSD-2-Clause
// Runs lines: the few commands of the shell itself (command.h), and those of the daemon. Blocks.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/shell/client.h"
#include "cli/shell/grammar.h"
#include "cli/shell/show.h"

struct shell_command;
struct state_lines;

struct shell {
	const char *socket;
	bool is_json;
	bool wants_exit;
	bool has_revision; // changes require that the configuration is at this revision
	uint64_t revision;
	bool has_transaction; // begun here, and open at the daemon's last response
	bool keeps_going;     // a batch continues after an error
	bool is_targetcli;    // lines behave as targetcli's where that differs
	bool is_interactive;  // interactive: saves paths and history
	bool has_own_stdin;   // standard input is the batch
	char *cwd;	      // absolute path
	struct client client;
	struct look look;
	struct preferences prefs;		     // the preferences of the shell
	struct json_object *schema;		     // requested on demand
	const struct shell_command *const *commands; // of the shell itself, ends with NULL
	struct state_lines *places; // history of cd, the last one is cwd; NULL: none yet
	unsigned place;		    // index of the current one
	// The next line if available (pasted, or of the batch), for free(); NULL: none. May be
	// NULL.
	char *(*next_line)(void *arg);
	void *next_line_arg;
};

// With default preferences. s must not move: its look points into it.
void shell_init(struct shell *s, const char *socket, bool is_json);
void shell_done(struct shell *s);

// Runs one line; errors are in e (not printed). Prompts for its secrets and stores them in l.
enum status shell_run(struct shell *s, struct line *l, struct err *e);

// Reads lines from fd until its end or the first error, reported as NAME:LINE: text. Available
// lines go to the daemon together; it responds when they are saved.
enum status shell_batch(struct shell *s, int fd, const char *name);
// The absolute path of a word: of a bookmark, or relative to base. For free(). -ENOENT: no such
// bookmark.
int shell_path(const char *base, const char *word, char **ret, struct err *e);
// {"path": path}, for json_object_put().
struct json_object *params_at(const char *path);
// The same with {"depth": depth} for tree.ls; 0: unlimited.
struct json_object *params_of_ls(const char *path, int64_t depth);
// Parameters of tree.run, for json_object_put(); takes ownership of the values.
struct json_object *run_params(const char *path, const char *command,
			       struct json_object *positional, struct json_object *named);

// For shell_batch(). Whether the daemon can run the line unchanged; the line's parameters of
// tree.run, for json_object_put(); a call of a method; output of the result.
bool shell_is_remote(const struct shell *s, const struct line *l);
int shell_params(struct shell *s, const struct line *l, struct json_object **ret, struct err *e);
int shell_call(struct shell *s, const char *method, struct json_object *params,
	       struct json_object **ret, struct err *e);
// As shell_call(), for the text of the answer (client_text()).
int shell_call_text(struct shell *s, const char *method, struct json_object *params, char **ret,
		    struct err *e);
// The same for a line at an absolute path, and tree.run with the parameters: takes ownership of
// params.
int shell_params_at(const struct shell *s, const char *path, const struct line *l,
		    struct json_object **ret, struct err *e);
int shell_ask(struct shell *s, struct json_object *params, struct json_object **ret, struct err *e);
// The resulting revision, and whether a transaction is open.
void shell_saw(struct shell *s, struct json_object *answer);
// -EREMOTEIO: done, except for recoverable errors.
int shell_show_answer(struct shell *s, const struct line *l, struct json_object *answer,
		      struct err *e);
// Line editing and history until exit or end of file; errors are reported and do not end it.
enum status shell_interactive(struct shell *s);
// Prints the candidates for the last word of line, one per line: text, a tab, a note.
enum status shell_complete(struct shell *s, const char *line);
