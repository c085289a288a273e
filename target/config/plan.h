// SPDX-License-Identifier: BSD-2-Clause
// Whole documents against the tree: what differs, what applying one would change, applying it,
// going back to one that was saved, transactions. Private to target/config; control thread.
#pragma once

#include "target/config/model.h"

// Reads a saved file. -ENOENT, -EINVAL with line and column.
int document_read(const char *file, struct json_object **ret, struct err *e);

// Adds to lines (an array) what leads from one document to the other, an object or a setting a
// line:
// "+ PATH", "- PATH", "  PATH: setting: old -> new". Secrets are masked.
void diff_documents(struct json_object *from, struct json_object *to, struct json_object *lines);

// The parameter of the commands that may lose what is on RAM disks.
#define PARAM_FORCE_LOSS                                                                           \
	{                                                                                          \
		"force", PARAM_BOOL, false, "false", "true: discard data on RAM disks", NULL       \
	}

// Makes the tree what doc says, or with is_apply unset adds that to it, and touches nothing else,
// within the transaction; what is told of it goes to r. is_dry: undoes it, so that it is only told.
// what: the document, for messages. Returns the number of differences.
int plan_run(struct config *c, struct json_object *doc, const char *what,
	     const struct restore_options *o, struct reply *r, struct err *e);

// -EPERM for a document, called what, that has neither storage objects nor targets and would
// replace a configuration that has some: a file that lost its content is no wish to serve nothing.
int plan_refuse_nothing(const struct config *c, struct json_object *doc, const char *what,
			struct err *e);
// ---- lost_data.c ----
// Adds a line for each RAM disk that holds data and is closed by what the transaction did since the
// mark. Returns how many; *ret_first: the name of the first one, as long as the transaction is
// open.
unsigned lost_data(struct config *c, struct txn_mark since, struct json_object *lines,
		   const char **ret_first);
// Adds a line for each RAM disk that the transaction recreates since the mark, empty, where it had
// been deleted before.
void lost_before(struct config *c, struct txn_mark since, struct json_object *lines);
// -EBUSY with text unless count is 0.
int lost_data_refuse(unsigned count, const char *first, const char *what, struct err *e);

// What ends a command whose plan_run() returned code.
int plan_finish(struct config *c, int code, struct err *e);

// The commands, rows of the root.
typedef int plan_command(struct config *c, struct node *n, const struct args *a, struct reply *r,
			 struct err *e);
plan_command plan_diff, plan_plan, plan_apply, plan_import, plan_undo, plan_generations, plan_begin,
	plan_commit, plan_abort;

// Tells -EBUSY when somebody else's transaction is open, -ETIMEDOUT when the caller's has ended by
// itself and he has not said abort.
int begin_check(const struct config *c, struct err *e);
// Ends what is open, undone.
void begin_done(struct config *c);
void begin_init(struct config *c);
