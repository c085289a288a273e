// SPDX-License-Identifier: BSD-2-Clause
// The end of a change, and changes of several commands. Private to target/config; control thread.
#pragma once

#include <time.h>

#include "target/config/tree/tree.h"

// Changes that are not complete.
struct config_change {
	struct config *config;
	struct {
		bool is_open, has_changes;
		struct txn_mark mark; // after the last successful command
	} together;		      // commands of one change: together.c
	struct transaction {
		bool is_open;
		struct config_client owner;
		time_t since;
		unsigned seconds; // limit
		struct timer limit;
		unsigned resizes; // before it
		uint64_t lapsed;  // the client whose transaction timed out, until it is told
	} transaction;		  // begin.c
};

// Begins a change of several commands.
void together_open(struct config *c);

// Ends the transaction: views of the dirty targets, saved file, publish. On failure everything is
// undone. saves: false while reading a saved file.
int config_commit(struct config *c, bool saves, struct err *e);
// -EBUSY with text if the open transaction would take from a session what it uses (used_refuse()),
// unless a command of it had force=true. config_commit() refuses the same. -ENOMEM.
int change_refuse_used(struct config *c, struct err *e);
// Ends every command: commits if code is 0, else undoes; returns the code. If several are one
// change, the successful ones are committed with the last.
int config_finish(struct config *c, int code, struct err *e);

// ---- retry.c ----
// Retries waiting objects: the function of config_storage.retry.
void storage_retry(struct timer *t);
