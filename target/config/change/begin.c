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

static void on_limit(struct timer *timer)
{
	struct transaction *t = container_of(timer, struct transaction, limit);
	log_warn("transaction of process %d (uid %u): undone after %u s without commit",
		 t->owner.pid, t->owner.uid, t->seconds);
	t->lapsed = t->owner.id;
	undo(container_of(t, struct config_change, transaction)->config);
}

void begin_init(struct config *c)
{
	timer_init(&c->change->transaction.limit, on_limit);
}

bool config_has_transaction(const struct config *c)
{
	const struct transaction *t = &c->change->transaction;
	return t->is_open && t->owner.id == c->caller.id;
}

// Whether the caller's transaction has timed out, and was not aborted.
static bool has_lapsed(const struct config *c)
{
	uint64_t lapsed = c->change->transaction.lapsed;
	return lapsed && lapsed == c->caller.id;
}

int begin_check(const struct config *c, struct err *e)
{
	const struct transaction *t = &c->change->transaction;
	char when[32];
	struct tm tm;
	if (has_lapsed(c))
		return err_set(e, -ETIMEDOUT,
			       "the transaction expired after %u s and was undone (abort, then "
			       "begin again)",
			       t->seconds);
	if (!t->is_open || config_has_transaction(c))
		return 0;
	strftime(when, sizeof when, "%H:%M:%S", localtime_r(&t->since, &tm));
	return err_set(e, -EBUSY,
		       "process %d (uid %u) has a transaction open since %s, for at most %u s "
		       "(end it with commit or abort)",
		       t->owner.pid, t->owner.uid, when, t->seconds);
}

int plan_begin(struct config *c, struct node *n, const struct args *a, struct reply *r,
	       struct err *e)
{
	struct transaction *t = &c->change->transaction;
	int seconds = number_of(arg(a, "seconds"), "", SECONDS_MAX);
	if (seconds < 1)
		return err_set(e, -EINVAL, "seconds: 1..%d", SECONDS_MAX);
	if (!c->caller.id)
		return err_set(e, -EOPNOTSUPP, "begin: only available on the control socket");
	if (t->is_open)
		return err_set(e, -EBUSY, "begin: a transaction is already open");
	t->is_open = true;
	t->resizes = c->storage->resizes;
	t->owner = c->caller;
	t->since = time(NULL);
	t->seconds = (unsigned)seconds;
	together_open(c);
	timer_arm(c->control, &t->limit, (uint64_t)seconds * 1000000);
	reply_say(r, "Transaction begins; commit or abort within %d s.", seconds);
	return 0;
}

int plan_commit(struct config *c, struct node *n, const struct args *a, struct reply *r,
		struct err *e)
{
	if (!config_has_transaction(c))
		return err_set(e, -ENOENT, "commit: no transaction is open");
	bool has_changes = c->change->together.has_changes;
	c->txn.is_forced |= arg_bool(a, "force", false);
	if (has_changes && change_refuse_used(c, e) < 0) {
		err_prefix(e, "commit");
		return e->code;
	}
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
	if (has_lapsed(c)) {
		c->change->transaction.lapsed = 0;
		reply_say(r, "The transaction was already undone.");
		return 0;
	}
	if (!config_has_transaction(c))
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
	struct transaction *t = &c->change->transaction;
	if (t->lapsed == id)
		t->lapsed = 0;
	if (!t->is_open || t->owner.id != id)
		return;
	log_warn("transaction of process %d (uid %u): undone, the client disconnected",
		 t->owner.pid, t->owner.uid);
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

uint64_t config_revision(const struct config *c)
{
	return c->generation;
}
