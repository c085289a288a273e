// SPDX-License-Identifier: BSD-2-Clause
// Transactions of a client: its changes between begin and commit are shown in the tree, but not
// saved and not visible to initiators, and abort undoes them. ALUA states, settings of open disks
// and their sizes take effect at once; sizes are not undone. Other clients have read access and see
// who holds the transaction, which ends after the requested time or with the connection.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "target/config/change/client.h"
#include "target/config/change/commit.h"
#include "target/config/change/plan.h"
#include "target/config/file/saved_file.h"
#include "target/config/storage/storage.h"

enum { SECONDS_MAX = 3600 };

static void end(struct config *c)
{
	timer_cancel(c->control, &c->change->transaction.limit);
	c->change->transaction.is_open = false;
	c->change->together.is_open = false;
}

// The saved file has the sizes of the disks in use. Nothing else has changed: not a generation.
static void save_sizes(struct config *c)
{
	struct err e = { 0 };
	c->saved->skips_backup = true;
	if (config_save(c, false, &e) < 0)
		log_error("%s: sizes are saved with the next change", e.text);
	c->saved->skips_backup = false;
}

static bool has_resized(const struct config *c)
{
	return c->storage->resizes != c->change->transaction.resizes;
}

static void undo(struct config *c)
{
	end(c);
	txn_undo(c);
	change_back_to(c, 0);
	if (has_resized(c))
		save_sizes(c);
	retry_waiting(c); // what became available meanwhile
}

void begin_done(struct config *c)
{
	if (c->change->transaction.is_open)
		undo(c);
}

static void on_limit(struct timer *t)
{
	struct config *c = container_of(t, struct config_change, transaction.limit)->config;
	log_warn("transaction of process %d (uid %u): undone after %u s without commit",
		 c->change->transaction.owner.pid, c->change->transaction.owner.uid,
		 c->change->transaction.seconds);
	c->change->transaction.lapsed = c->change->transaction.owner.id;
	undo(c);
}

void begin_init(struct config *c)
{
	timer_init(&c->change->transaction.limit, on_limit);
}

static bool is_owner(const struct config *c)
{
	return c->change->transaction.is_open && c->change->transaction.owner.id == c->caller.id;
}

static void describe(const struct config *c, char *out, size_t size)
{
	char when[32];
	struct tm tm;
	strftime(when, sizeof when, "%H:%M:%S", localtime_r(&c->change->transaction.since, &tm));
	snprintf(out, size, "process %d (uid %u) has a transaction open since %s, for at most %u s",
		 c->change->transaction.owner.pid, c->change->transaction.owner.uid, when,
		 c->change->transaction.seconds);
}

int begin_check(const struct config *c, struct err *e)
{
	char whose[160];
	if (c->change->transaction.lapsed && c->change->transaction.lapsed == c->caller.id)
		return err_set(e, -ETIMEDOUT,
			       "the transaction expired after %u s and was undone (abort, then "
			       "begin again)",
			       c->change->transaction.seconds);
	if (!c->change->transaction.is_open || is_owner(c))
		return 0;
	describe(c, whose, sizeof whose);
	return err_set(e, -EBUSY, "%s (end it with commit or abort)", whose);
}

int plan_begin(struct config *c, struct node *n, const struct args *a, struct reply *r,
	       struct err *e)
{
	int seconds = number_of(arg(a, "seconds"), "", SECONDS_MAX);
	if (seconds < 1)
		return err_set(e, -EINVAL, "seconds: 1..%d", SECONDS_MAX);
	if (!c->caller.id)
		return err_set(e, -EOPNOTSUPP, "begin: only available on the control socket");
	if (c->change->transaction.is_open)
		return err_set(e, -EBUSY, "begin: a transaction is already open");
	c->change->transaction.is_open = true;
	c->change->transaction.resizes = c->storage->resizes;
	c->change->transaction.owner = c->caller;
	c->change->transaction.since = time(NULL);
	c->change->transaction.seconds = (unsigned)seconds;
	c->change->together.mark = txn_mark(c);
	c->change->together.has_changes = false;
	c->change->together.is_open = true;
	timer_arm(c->control, &c->change->transaction.limit, (uint64_t)seconds * 1000000);
	reply_say(r, "Transaction begins; commit or abort within %d s.", seconds);
	return 0;
}

int plan_commit(struct config *c, struct node *n, const struct args *a, struct reply *r,
		struct err *e)
{
	if (!is_owner(c))
		return err_set(e, -ENOENT, "commit: no transaction is open");
	bool has_changes = c->change->together.has_changes;
	end(c);
	c->saved->skips_backup = !arg_bool(a, "backup", true);
	int code = has_changes ? config_finish(c, 0, e) : 0;
	c->saved->skips_backup = false;
	retry_waiting(c);
	if (!code)
		reply_say(r,
			  has_changes ? "Committed as generation %" PRIu64 "."
				      : "Nothing has changed since generation %" PRIu64 ".",
			  c->generation);
	return code;
}

int plan_abort(struct config *c, struct node *n, const struct args *a, struct reply *r,
	       struct err *e)
{
	if (c->change->transaction.lapsed && c->change->transaction.lapsed == c->caller.id) {
		c->change->transaction.lapsed = 0;
		reply_say(r, "The transaction was already undone.");
		return 0;
	}
	if (!is_owner(c))
		return err_set(e, -ENOENT, "abort: no transaction is open");
	undo(c);
	reply_say(r, has_resized(c) ? "Undone, except resize: a disk cannot shrink." : "Undone.");
	return 0;
}

void config_set_caller(struct config *c, const struct config_client *client)
{
	c->caller = *client;
}

void config_client_gone(struct config *c, uint64_t id)
{
	if (c->change->transaction.lapsed == id)
		c->change->transaction.lapsed = 0;
	if (!c->change->transaction.is_open || c->change->transaction.owner.id != id)
		return;
	log_warn("transaction of process %d (uid %u): undone, the client disconnected",
		 c->change->transaction.owner.pid, c->change->transaction.owner.uid);
	undo(c);
}

int config_check_revision(const struct config *c, uint64_t revision, struct err *e)
{
	if (revision == c->generation)
		return 0;
	return err_set(e, -ESTALE,
		       "the configuration is at revision %" PRIu64 ", not %" PRIu64
		       " (another client changed it: read it again)",
		       c->generation, revision);
}

bool config_has_transaction(const struct config *c)
{
	return is_owner(c);
}

uint64_t config_revision(const struct config *c)
{
	return c->generation;
}
