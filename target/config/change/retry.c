// SPDX-License-Identifier: BSD-2-Clause
// Retries waiting storage objects and portals. Control thread.
#include "target/config/change/commit.h"
#include "target/config/storage/storage.h"
#include "target/config/targets/portal.h"

enum { RETRY_MAX_USEC = 16000000 };

// Retries all waiting storage, or only busy ones, once. True: one was opened.
static bool retry_storage(struct config *c, bool only_busy)
{
	bool has_changed = false;
	list_each_safe (struct storage, s, &c->storage->waiting, waiting_link) {
		if ((only_busy && !s->is_busy) || storage_open(s, false, NULL) < 0)
			continue;
		log_info("%s %s: available", s->type->name, s->node.name);
		has_changed = true;
	}
	return has_changed;
}

static bool retry_portals(struct config *c)
{
	bool has_changed = false;
	if (!c->targets->lost_portals)
		return false;
	portal_each (p, c)
		has_changed |= portal_retry(c, p);
	return has_changed;
}

static bool has_busy(const struct config *c)
{
	list_each (const struct storage, s, &c->storage->waiting, waiting_link)
		if (s->is_busy)
			return true;
	return false;
}

// Objects that wait long are retried less often: each attempt costs an open().
static uint64_t next_delay(const struct config *c, uint64_t last, bool has_changed)
{
	if (last < STORAGE_RETRY_USEC && has_busy(c))
		return last < STORAGE_BUSY_USEC ? STORAGE_BUSY_USEC : 2 * last;
	if (last < STORAGE_RETRY_USEC || has_changed)
		return STORAGE_RETRY_USEC;
	return 2 * last > RETRY_MAX_USEC ? RETRY_MAX_USEC : 2 * last;
}

void storage_retry(struct timer *t)
{
	struct config *c = container_of(t, struct config_storage, retry)->config;
	uint64_t last = c->storage->retry_usec;
	bool only_busy = last && last < STORAGE_RETRY_USEC;
	struct err e = { 0 };
	if (c->is_shutting_down)
		return;
	if (c->change->transaction.is_open) { // its commit would include this change
		timer_arm(c->control, t, STORAGE_RETRY_USEC);
		return;
	}
	own_files_forget(c);
	bool has_changed = retry_storage(c, only_busy);
	if (!only_busy)
		has_changed |= retry_portals(c);
	if (has_changed && config_commit(c, false, &e) < 0)
		log_error("%s", e.text);
	if (list_empty(&c->storage->waiting) && !c->targets->lost_portals) {
		timer_cancel(c->control, t);
		return;
	}
	c->storage->retry_usec = next_delay(c, last, has_changed);
	timer_arm(c->control, t, c->storage->retry_usec);
}
