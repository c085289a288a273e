// SPDX-License-Identifier: BSD-2-Clause
// Calls of commands as users write them. Private to target/config; control thread.
#pragma once

#include "target/config/tree/class.h"

// A command and what it is called with.
struct config_call {
	const char *path, *command;
	struct json_object *positional, *named;
};
typedef int config_run_fn(struct config *c, const char *path, const char *command,
			  struct json_object *positional, struct json_object *named, bool is_admin,
			  struct reply *out, struct err *e);

// ---- part.c ----
// Adds to e the value of a failed call that it is about, unless it has a part already or its text
// refers to none.
void part_find(const struct command_row *row, struct json_object *positional,
	       struct json_object *named, struct err *e);

// ---- acl_group.c ----
// Runs a command below .../acls/TAG for all ACLs with that tag or, if it only reads, for the first.
// *ret: as config_run(). False: no ACL has the tag; nothing was done.
bool acl_group_run(struct config *c, const struct config_call *call, bool is_admin,
		   config_run_fn *run, int *ret, struct reply *out, struct err *e);
