// SPDX-License-Identifier: BSD-2-Clause
// The reservations of a logical unit as one of its parts: the state, the queue of changes at the
// home worker, and the effects of restart, reset and nexus loss.
#include "target/scsi/reservations/state.h"

#include <errno.h>
#include <stdlib.h>

#include "target/scsi/lu.h"
#include "target/scsi/lu_channel.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/reservations/aptpl.h"
#include "target/scsi/reservations/reservations.h"

struct pr_view *pr_view_of(struct lu *lu)
{
	pthread_mutex_lock(&lu->lock);
	struct pr_view *v = pr_view_get(lu->pr->view);
	pthread_mutex_unlock(&lu->lock);
	return v;
}

static void show_reserved(struct lu_channel *c, struct lu_round *r)
{
	(void)r;
	c->reserved_by = __atomic_load_n(&c->lu->pr->reserved_by, __ATOMIC_ACQUIRE);
}

static void reserved_shown(struct lu_round *r)
{
	home_change_end(&container_of(r, struct pr_op, round)->home);
}

static const struct lu_round_ops reserved_round = {
	.each = show_reserved,
	.done = reserved_shown,
};

void pr_publish_reserved(struct pr_op *op, uint64_t nexus_id)
{
	struct lu *lu = op->home.lu;
	pthread_mutex_lock(&lu->lock);
	__atomic_store_n(&lu->pr->reserved_by, nexus_id, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lu->lock);
	lu_round_start(&op->round, lu, &reserved_round);
}

// --- RESERVE(6/10) ends with a reset and with its nexus (SPC-2 5.5.1) -----------------------

static void release_turn(struct home_change *c)
{
	struct pr_state *st = c->lu->pr;
	uint64_t lost = __atomic_load_n(&st->lost, __ATOMIC_ACQUIRE);
	bool is_over = st->reserved_by && (lost == PR_LOST_ANY || lost == st->reserved_by);
	if (is_over) { // before lost is cleared: the rules check both
		pthread_mutex_lock(&c->lu->lock);
		__atomic_store_n(&st->reserved_by, 0, __ATOMIC_RELEASE);
		pthread_mutex_unlock(&c->lu->lock);
	}
	__atomic_exchange_n(&st->lost, 0, __ATOMIC_ACQ_REL);
	if (is_over)
		pr_publish_reserved(&st->release, 0);
	else
		home_change_end(c);
}

static void release_start(struct pr_state *st);

static void release_ended(struct home_change *c)
{
	struct pr_state *st = c->lu->pr;
	st->is_releasing = false;
	if (st->again)
		release_start(st);
	lu_put(c->lu);
}

// Home worker.
static void release_start(struct pr_state *st)
{
	st->again = st->is_releasing;
	if (st->is_releasing)
		return;
	st->is_releasing = true;
	st->release.home.run = release_turn;
	st->release.home.ended = release_ended;
	home_change_start(&st->release.home, lu_get(st->lu), &st->queue);
}

static void release_arrived(struct msg *m)
{
	struct pr_state *st = container_of(m, struct pr_state, release_msg);
	struct lu *lu = st->lu;
	__atomic_store_n(&st->is_posted, false, __ATOMIC_SEQ_CST);
	release_start(st);
	lu_put(lu);
}

// Ends the RESERVE, if any, of a nexus that sends no more commands; later checks do not see it.
static void nexus_leaves(struct nexus_lun *nl)
{
	struct pr_state *st = nl->lu->pr;
	// Checks the state, not the channel: only the current holder may end it.
	if (__atomic_load_n(&st->reserved_by, __ATOMIC_ACQUIRE) != nl->nexus->id)
		return;
	__atomic_store_n(&st->lost, nl->nexus->id, __ATOMIC_SEQ_CST);
	if (__atomic_exchange_n(&st->is_posted, true, __ATOMIC_SEQ_CST))
		return;
	lu_get(nl->lu);
	st->release_msg.fn = release_arrived;
	worker_post(nl->lu->home, &st->release_msg);
}

static void reset(struct lu *lu)
{
	struct pr_state *st = lu->pr;
	if (!st->reserved_by)
		return;
	__atomic_store_n(&st->lost, PR_LOST_ANY, __ATOMIC_SEQ_CST);
	release_start(st);
}

// Registered, or the holder of a reservation of either kind. The channel's table exists only with a
// reservation.
static bool is_used(struct nexus_lun *nl)
{
	struct pr_port port;
	if (nl->channel->reserved_by == nl->nexus->id && pr_is_reserved(nl->lu->pr))
		return true;
	struct pr_view *v = pr_view_of(nl->lu);
	bool is_registered = v && v->count && pr_port_of_nexus(&port, nl->nexus) &&
			     pr_find(v, &port) != PR_NOBODY;
	pr_view_put(v);
	return is_registered;
}

// --- The part -------------------------------------------------------------------------------

static int attach(struct lu *lu, struct err *e)
{
	struct pr_state *st = calloc(1, sizeof *st);
	if (!st)
		return err_set(e, -ENOMEM, "%s: reservations: out of memory", lu->name);
	list_init(&st->queue.changes);
	st->lu = lu;
	int res = pr_store_load(&st->view, lu, e);
	if (res) {
		free(st);
		return res;
	}
	if (st->view)
		st->view->enforce_isids = lu_setting(&lu->attr.enforce_pr_isids);
	lu->pr = st;
	return 0;
}

static void detach(struct lu *lu)
{
	if (lu->pr)
		pr_view_put(lu->pr->view);
	free(lu->pr);
	lu->pr = NULL;
}

static void channel_init(struct lu_channel *c)
{
	struct pr_state *st = c->lu->pr;
	c->pr = st->view && st->view->type ? pr_view_get(st->view) : NULL;
	c->reserved_by = st->reserved_by;
}

static void channel_done(struct lu_channel *c)
{
	pr_view_put(c->pr);
	c->pr = NULL;
}

const struct lu_part pr_part = {
	.attach = attach,
	.detach = detach,
	.channel_init = channel_init,
	.channel_done = channel_done,
	.reset = reset,
	.nexus_lost = nexus_leaves,
	.nexus_leaves = nexus_leaves,
	.is_used = is_used,
};
