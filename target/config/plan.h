// SPDX-License-Identifier: BSD-2-Clause
// Complete documents: their differences from the tree, preview and application, return to a saved
// one, transactions. Private to target/config; control thread.
#pragma once

#include <limits.h>

#include "target/config/model.h"

// ---- document.c ----
// Reads a saved file. -ENOENT, -EINVAL with line and column.
int document_read(const char *file, struct json_object **ret, struct err *e);
// Whether a path leads to the saved file or one of its generations. ret: the file to open.
bool document_is_own(const struct config *c, const char *path, char ret[PATH_MAX]);
// The document of a parameter, for json_object_put(): that of the saved file if the parameter is
// absent, the client's, or one that the daemon has saved. -ENOENT; -EINVAL with line and column;
// -EREMOTE with the part of the call: it is a file of the client's user, whose content the client
// must send.
int document_get(const struct config *c, const struct args *a, const char *name,
		 struct json_object **ret, struct err *e);
// That -EREMOTE; format: what the file is for the client, "json" or a kind of import.
int document_want(const struct args *a, const char *name, const char *format, struct err *e);

// Adds the differences between two documents to lines (an array), one line per object or setting:
// "+ PATH", "- PATH", "  PATH: setting: old -> new". Secrets are masked.
void diff_documents(const struct config *c, struct json_object *from, struct json_object *to,
		    struct json_object *lines);

// The parameter of the commands that may lose data of RAM disks.
#define PARAM_FORCE_LOSS                                                                           \
	{                                                                                          \
		"force", PARAM_BOOL, false, "false", "true: discard data on RAM disks", NULL       \
	}

// Makes the tree equal to doc (is_apply) or only adds doc to it, within the transaction, and
// reports to r. is_dry: undoes it, for the report only. what: the document, for messages. Returns
// the number of differences.
int plan_run(struct config *c, struct json_object *doc, const char *what,
	     const struct restore_options *o, struct reply *r, struct err *e);

// -EPERM for a document, called what, without storage objects and targets that would replace a
// non-empty configuration: a file that lost its content must not delete everything.
int plan_refuse_nothing(const struct config *c, struct json_object *doc, const char *what,
			struct err *e);
// ---- lost_data.c ----
// Adds a line for each RAM disk with data that the transaction has closed since the mark. Returns
// how many; *ret_first: the name of the first one, valid while the transaction is open.
unsigned lost_data(struct config *c, struct txn_mark since, struct json_object *lines,
		   const char **ret_first);
// Adds a line for each RAM disk that the transaction recreates since the mark, empty, where it had
// been deleted before.
void lost_before(struct config *c, struct txn_mark since, struct json_object *lines);
// -EBUSY with text unless count is 0.
int lost_data_refuse(unsigned count, const char *first, const char *what, struct err *e);

// The commands, rows of the root.
typedef int plan_command(struct config *c, struct node *n, const struct args *a, struct reply *r,
			 struct err *e);
plan_command plan_diff, plan_plan, plan_apply, plan_import, plan_undo, plan_generations, plan_begin,
	plan_commit, plan_abort;

// -EBUSY: another client's transaction is open; -ETIMEDOUT: the caller's transaction has timed out
// and was not aborted.
int begin_check(const struct config *c, struct err *e);
// Undoes and ends an open transaction.
void begin_done(struct config *c);
void begin_init(struct config *c);
