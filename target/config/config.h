// SPDX-License-Identifier: BSD-2-Clause
// The configuration: the tree that users see, its effect on the target, and its saved file.
// Everything runs on the control thread and may block.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "core/worker.h"
#include "target/config/change/client.h"
#include "target/config/change/command.h"
#include "target/config/report/report.h"
#include "target/config/tree/node.h"

struct config_options {
	struct worker *control;
	const char *file;      // saved configuration
	const char *state_dir; // APTPL files; NULL: not kept
	const char *socket;    // the control socket; NULL: none
};

// Creates an empty tree and publishes the empty view. Call after starting the workers and
// fabrics_start().
int config_new(struct config **ret, const struct config_options *options, struct err *e);

// Closes every portal, so that no more logins arrive. The first step of the end.
void config_stop_listening(struct config *c);
// Closes everything without saving, after the connections (fabrics_stop). Nothing is
// published: initiators should find the same targets after a restart. idle(arg) runs on the control
// thread when the last storage is closed, possibly at once. Then call config_free().
void config_shutdown(struct config *c, void (*idle)(void *arg), void *arg);
void config_free(struct config *c); // after idle; NULL is fine

// Reads the saved file at start. A missing file is an empty configuration. Objects that cannot be
// opened wait; unknown content is kept and logged once. A damaged file returns -EINVAL with line
// and column and is set aside; any error leaves the tree empty.
int config_load(struct config *c, struct err *e);

struct node *config_root(struct config *c);

// Runs a command of a node. -ENOENT: no such path; -ENOSYS: no such command; else the command's
// result. out is filled on success; free it with reply_done().
config_run_fn config_run;

// Runs commands in order as one change, saved and published once, so that a thousand of them are
// cheap. Stops before a command that only reads, that affects the whole configuration, or that may
// need something that an earlier one has just freed: the rest needs another call, where such a
// command runs alone if it is the first. count: at least 1. *ret_done commands were run and saved,
// with their replies in outs: at least one, unless the return code is negative. Then command
// *ret_done has failed and changed nothing; with *ret_done 0 it may also be the save that failed,
// and nothing has changed.
int config_run_together(struct config *c, const struct config_call *calls, unsigned count,
			bool is_admin, struct reply *outs, unsigned *ret_done, struct err *e);

// Retries all waiting objects now.
void config_retry(struct config *c);

// The number of closing storage objects still held by sessions. told(arg) runs when it falls to 0;
// one listener.
unsigned config_closing(const struct config *c);
void config_on_quiet(struct config *c, void (*told)(void *arg), void *arg);
