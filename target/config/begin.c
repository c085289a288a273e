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

#include "target/config/change.h"
#include "target/config/plan.h"

enum { SECONDS_MAX = 3600 };

static void end(struct config *c)
{
	timer_cancel(c->control, &c->transaction.limit);
	c->transaction.is_open = false;
	c->together.is_open = false;
}

// The saved file has the sizes of the disks in use. Nothing else has changed: not a generation.
static void save_sizes(struct config *c)
{
	struct err e = { 0 };
	c->skips_backup = true;
	if (config_save(c, false, &e) < 0)
		log_error("%s: sizes are saved with the next change", e.text);
	c->skips_backup = false;
}

static void undo(struct config *c)
{
	end(c);
	txn_undo(c);
	change_back_to(c, 0);
	if (c->transaction.has_resized)
		save_sizes(c);
	config_retry(c); // what became available meanwhile
}

void begin_done(struct config *c)
{
	if (c->transaction.is_open)
		undo(c);
}

static void on_limit(struct timer *t)
{
	struct config *c = container_of(t, struct config, transaction.limit);
	log_warn("transaction of process %d (uid %u): undone after %u s without commit",
		 c->transaction.owner.pid, c->transaction.owner.uid, c->transaction.seconds);
	c->transaction.lapsed = c->transaction.owner.id;
	undo(c);
}

void begin_init(struct config *c)
{
	timer_init(&c->transaction.limit, on_limit);
}

static bool is_owner(const struct config *c)
{
	return c->transaction.is_open && c->transaction.owner.id == c->caller.id;
}

static void describe(const struct config *c, char *out, size_t size)
{
	char when[32];
	struct tm tm;
	strftime(when, sizeof when, "%H:%M:%S", localtime_r(&c->transaction.since, &tm));
	snprintf(out, size, "process %d (uid %u) has a transaction open since %s, for at most %u s",
		 c->transaction.owner.pid, c->transaction.owner.uid, when, c->transaction.seconds);
}

int begin_check(const struct config *c, struct err *e)
{
	char whose[160];
	if (c->transaction.lapsed && c->transaction.lapsed == c->caller.id)
		return err_set(e, -ETIMEDOUT,
			       "the transaction expired after %u s and was undone (abort, then "
			       "begin again)",
			       c->transaction.seconds);
	if (!c->transaction.is_open || is_owner(c))
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
	if (c->transaction.is_open)
		return err_set(e, -EBUSY, "begin: a transaction is already open");
	c->transaction.is_open = true;
	c->transaction.has_resized = false;
	c->transaction.owner = c->caller;
	c->transaction.since = time(NULL);
	c->transaction.seconds = (unsigned)seconds;
	c->together.mark = txn_mark(c);
	c->together.has_changes = false;
	c->together.is_open = true;
	timer_arm(c->control, &c->transaction.limit, (uint64_t)seconds * 1000000);
	reply_say(r, "Transaction begins; commit or abort within %d s.", seconds);
	return 0;
}

int plan_commit(struct config *c, struct node *n, const struct args *a, struct reply *r,
		struct err *e)
{
	if (!is_owner(c))
		return err_set(e, -ENOENT, "commit: no transaction is open");
	bool has_changes = c->together.has_changes;
	end(c);
	c->skips_backup = !arg_bool(a, "backup", true);
	int code = has_changes ? config_finish(c, 0, e) : 0;
	c->skips_backup = false;
	config_retry(c);
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
	if (c->transaction.lapsed && c->transaction.lapsed == c->caller.id) {
		c->transaction.lapsed = 0;
		reply_say(r, "The transaction was already undone.");
		return 0;
	}
	if (!is_owner(c))
		return err_set(e, -ENOENT, "abort: no transaction is open");
	undo(c);
	reply_say(r, c->transaction.has_resized ? "Undone, except resize: a disk cannot shrink."
						: "Undone.");
	return 0;
}

void config_set_caller(struct config *c, const struct config_client *client)
{
	c->caller = *client;
}

void config_client_gone(struct config *c, uint64_t id)
{
	if (c->transaction.lapsed == id)
		c->transaction.lapsed = 0;
	if (!c->transaction.is_open || c->transaction.owner.id != id)
		return;
	log_warn("transaction of process %d (uid %u): undone, the client disconnected",
		 c->transaction.owner.pid, c->transaction.owner.uid);
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
