// SPDX-License-Identifier: BSD-2-Clause
// The configuration: the tree that users see, its effect on the target, and its saved file.
// Everything runs on the control thread and may block.
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
struct node *config_node(struct config *c, const char *path); // NULL: no such path

// Runs a command of a node. -ENOENT: no such path; -ENOSYS: no such command; else the command's
// result. out is filled on success; free it with reply_done().
typedef int config_run_fn(struct config *c, const char *path, const char *command,
			  struct json_object *positional, struct json_object *named, bool is_admin,
			  struct reply *out, struct err *e);
config_run_fn config_run;
void reply_done(struct reply *r);

// A command in the form of config_run().
struct config_call {
	const char *path, *command;
	struct json_object *positional, *named;
};
// Runs commands in order as one change, saved and published once, so that a thousand of them are
// cheap. Stops before a command that only reads, that affects the whole configuration, or that may
// need something that an earlier one has just freed: the rest needs another call, where such a
// command runs alone if it is the first. count: at least 1. *ret_done commands were run and saved,
// with their replies in outs: at least one, unless the return code is negative. Then command
// *ret_done has failed and changed nothing; with *ret_done 0 it may also be the save that failed,
// and nothing has changed.
int config_run_together(struct config *c, const struct config_call *calls, unsigned count,
			bool is_admin, struct reply *outs, unsigned *ret_done, struct err *e);

// The client: a connection of the control socket, its process and user. id: unique, from 1 on.
struct config_client {
	uint64_t id;
	int pid;
	unsigned uid;
};
// Sets the client of the following commands; without it they have no client and no transaction.
void config_set_caller(struct config *c, const struct config_client *client);
// Undoes the client's open transaction.
void config_client_gone(struct config *c, uint64_t id);

// Whether the caller has an open transaction.
bool config_has_transaction(const struct config *c);

// The number of the last saved change; and -ESTALE if the client has seen another one.
uint64_t config_revision(const struct config *c);
int config_check_revision(const struct config *c, uint64_t revision, struct err *e);

// Retries all waiting objects now.
void config_retry(struct config *c);

// The number of closing storage objects still held by sessions. told(arg) runs when it falls to 0;
// one listener.
unsigned config_closing(const struct config *c);
void config_on_quiet(struct config *c, void (*told)(void *arg), void *arg);

// The tree as JSON: name, class, summary, healthy, warning, serial, children; depth 0 is
// everything. The name comes first, the children last. serial: on request, of storage objects and
// of nodes that stand for them.
struct json_object *config_tree(struct config *c, const struct node *n, int depth,
				bool has_serials);
// Known values of a command's parameter, as an array of {"text", "note"}; at most 1000 of those
// that begin with prefix. NULL with text in e: no such path, command or parameter. Reads interfaces
// and sysfs.
struct json_object *config_complete(struct config *c, const char *path, const char *command,
				    const char *parameter, const char *prefix, struct err *e);
// All rows as JSON: classes with their commands and groups.
struct json_object *config_schema(struct config *c);
// Statistics: storage objects and sessions with their counters, portals, the iSCSI target's sums.
struct json_object *config_stats(struct config *c);
