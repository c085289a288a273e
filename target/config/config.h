// SPDX-License-Identifier: BSD-2-Clause
// The configuration: the tree that users see, what it makes of the target, and its saved
// file. Everything runs on the control thread and may block there.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "core/worker.h"
#include "target/config/class.h"
#include "target/config/node.h"

struct config;

struct config_options {
	struct worker *control;
	const char *file;      // saved configuration
	const char *state_dir; // APTPL files; NULL: not kept
	const char *socket;    // the control socket; NULL: none
};

// An empty tree; publishes the empty view. The workers run and iscsi_target_init is done.
int config_new(struct config **ret, const struct config_options *options, struct err *e);

// Closes every portal, so that nobody logs in any more. The first step of the end.
void config_stop_listening(struct config *c);
// Closes everything without saving, when the connections are closed (iscsi_target_done).
// Nothing is published: initiators are to find the same targets again after a restart.
// idle(arg) runs on the control thread when the last storage is closed, perhaps at once. Then
// config_free.
void config_shutdown(struct config *c, void (*idle)(void *arg), void *arg);
void config_free(struct config *c); // after idle; NULL is fine

// Reads the saved file at start. A missing file is an empty configuration. Objects that
// cannot be opened wait; what is not understood is kept and logged once. A damaged file
// gives -EINVAL with line and column and is kept aside; any error leaves the tree empty.
int config_load(struct config *c, struct err *e);

struct node *config_root(struct config *c);
struct node *config_node(struct config *c, const char *path); // NULL: no such path

// Runs a command of a node. -ENOENT: no such path; -ENOSYS: no such command; else what the
// command returns. out is filled on success and to be ended with reply_done.
int config_run(struct config *c, const char *path, const char *command,
	       struct json_object *positional, struct json_object *named, bool is_admin,
	       struct reply *out, struct err *e);
void reply_done(struct reply *r);

// One command, as config_run takes it.
struct config_call {
	const char *path, *command;
	struct json_object *positional, *named;
};
// Runs commands in order as one change: saved once and made visible at once, which is what makes
// a thousand of them cheap. Ends early, so that the rest wants another call, in front of a
// command that only looks, that concerns the whole configuration, or that may want what another
// one has just freed; of those the first one is run alone. count: at least 1.
// *ret_done are run and saved, with their replies in outs; there is at least one unless the
// return code is negative: then command *ret_done has failed and changed nothing, or, with
// *ret_done 0, perhaps the save, and nothing has changed at all.
int config_run_together(struct config *c, const struct config_call *calls, unsigned count,
			bool is_admin, struct reply *outs, unsigned *ret_done, struct err *e);

// Who asks: a connection of the control socket, its process and user. id: its own, from 1 on.
struct config_client {
	uint64_t id;
	int pid;
	unsigned uid;
};
// The commands that follow are this client's; without it they are nobody's, who has no transaction.
void config_set_caller(struct config *c, const struct config_client *client);
// Undoes what the client has begun and not committed.
void config_client_gone(struct config *c, uint64_t id);

// Whether the caller has begun a transaction that is open.
bool config_has_transaction(const struct config *c);

// The number of the last saved change; and -ESTALE when it is not the one the client has seen.
uint64_t config_revision(const struct config *c);
int config_check_revision(const struct config *c, uint64_t revision, struct err *e);

// Looks again at everything that waits, now.
void config_retry(struct config *c);

// Storage that is being closed and still held by sessions. told(arg) runs when the number
// falls to 0; one listener.
unsigned config_closing(const struct config *c);
void config_on_quiet(struct config *c, void (*told)(void *arg), void *arg);

// The tree as JSON: name, class, summary, status, children; depth 0 is everything.
struct json_object *config_tree(struct config *c, const struct node *n, int depth);
// The same for people, {"rows": text}, a line a node: as many blanks as it lies deep below n; '+'
// healthy, '-' not, '=' neither; '|' if a sibling follows, else '.'; name/serial/summary. The
// root's name is empty, and so are serials, but with has_serials those of storage objects and what
// stands for them. NULL: no memory.
struct json_object *config_rows(struct config *c, const struct node *n, int depth,
				bool has_serials);
// What is known that a command's parameter may be, as an array of {"text", "note"}; at most 1000 of
// those that begin with prefix. NULL with text in e: no such path, command or parameter. Looks at
// interfaces and sysfs.
struct json_object *config_complete(struct config *c, const char *path, const char *command,
				    const char *parameter, const char *prefix, struct err *e);
// All rows as JSON: classes with their commands and groups.
struct json_object *config_schema(struct config *c);
// Statistics: storage objects and sessions with their counters, portals, the iSCSI target's sums.
struct json_object *config_stats(struct config *c);
