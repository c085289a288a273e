// SPDX-License-Identifier: BSD-2-Clause
// Running lines: the few commands that are the shell's own (command.h), and all others, which the
// daemon knows. Blocks.
#pragma once

#include <stdbool.h>

#include "cli/client.h"
#include "cli/grammar.h"
#include "cli/show.h"

struct shell {
	const char *socket;
	bool is_json;
	bool wants_exit;
	char *cwd; // absolute path
	struct client client;
	struct look look;
	struct json_object *schema; // asked for when first needed
};

void shell_init(struct shell *s, const char *socket, bool is_json);
void shell_done(struct shell *s);

// Runs one line; what went wrong is in e (nothing is printed about it).
enum status shell_run(struct shell *s, const struct line *l, struct err *e);

// Reads lines from fd until its end or the first error, which is told as NAME:LINE: text. Lines
// that are there already go to the daemon together; it answers when they are saved.
enum status shell_batch(struct shell *s, int fd, const char *name);
// {"path": path}, for json_object_put().
struct json_object *params_at(const char *path);

// For shell_batch. Whether the line is for the daemon to run; then its parameters of tree.run, for
// json_object_put(), a call of a method, and the daemon's answer shown.
bool shell_is_remote(const struct line *l);
int shell_params(struct shell *s, const struct line *l, struct json_object **ret, struct err *e);
int shell_call(struct shell *s, const char *method, struct json_object *params,
	       struct json_object **ret, struct err *e);
// -EREMOTEIO: done, but for errors that can be recovered from.
int shell_show_answer(struct shell *s, const struct line *l, struct json_object *answer,
		      struct err *e);
// Line editing and history until exit or end of file; errors are told and do not end it.
enum status shell_interactive(struct shell *s);
