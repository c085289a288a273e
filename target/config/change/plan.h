// SPDX-License-Identifier: BSD-2-Clause
// Complete documents: preview and application, return to a saved one; transactions of clients.
// Private to target/config; control thread.
#pragma once

#include "target/config/file/restore.h"

// Makes the tree equal to doc (is_apply) or only adds doc to it, within the transaction, and
// reports to r. is_dry: undoes it, for the report only. what: the document, for messages.
int plan_run(struct config *c, struct json_object *doc, const char *what,
	     const struct restore_options *o, struct reply *r, struct err *e);

// -EPERM for a document, called what, without storage objects and targets that would replace a
// non-empty configuration: a file that lost its content must not delete everything.
int plan_refuse_nothing(const struct config *c, struct json_object *doc, const char *what,
			struct err *e);
// The commands, rows of the root.
command_fn plan_diff, plan_plan, plan_apply, plan_import, plan_undo, plan_generations, plan_begin,
	plan_commit, plan_abort;

// -EBUSY: another client's transaction is open; -ETIMEDOUT: the caller's transaction has timed out
// and was not aborted.
int begin_check(const struct config *c, struct err *e);
// Undoes and ends an open transaction.
void begin_done(struct config *c);
void begin_init(struct config *c);
