// SPDX-License-Identifier: BSD-2-Clause
// RESERVE and RELEASE (SPC-2 7.16, 7.21) for the whole logical unit, with the compatible
// handling of SPC-4 5.13.3 (CRH): while registrations exist they have no effect for registered
// nexuses, and RESERVE conflicts for the others.
#include "target/scsi/handler.h"
#include "target/scsi/reservations/commands.h"
#include "target/scsi/reservations/state.h"
#include "transport/wire/be.h"

struct reserve {
	struct pr_op op;
	struct task *task;
	bool reserves;
	enum scsi_status status;
};

static void reserve_on_turn(struct home_change *c)
{
	struct reserve *r = container_of(c, struct reserve, op.home);
	struct pr_state *st = c->lu->pr;
	uint64_t self = r->task->nexus->id;
	struct pr_port port;
	if (st->view && st->view->count) {
		bool is_registered = pr_port_of_nexus(&port, r->task->nexus) &&
				     pr_find(st->view, &port) != PR_NOBODY;
		if (r->reserves && !is_registered)
			r->status = STATUS_RESERVATION_CONFLICT;
		home_change_end(c);
	} else if (st->reserved_by && st->reserved_by != self) {
		if (r->reserves)
			r->status = STATUS_RESERVATION_CONFLICT;
		home_change_end(c);
	} else {
		pr_publish_reserved(&r->op, r->reserves ? self : 0);
	}
}

static void reserve_ended(struct home_change *c)
{
	task_home_done(container_of(c, struct reserve, op.home)->task);
}

static void reserve_at_home(struct task *t)
{
	struct reserve *r = t->scratch;
	r->op.home.run = reserve_on_turn;
	r->op.home.ended = reserve_ended;
	home_change_start(&r->op.home, t->lu, &t->lu->pr->queue);
}

static void reserve_finish(struct task *t)
{
	task_finish(t, ((const struct reserve *)t->scratch)->status);
}

static void reserve_start(struct task *t, bool reserves)
{
	struct reserve *r = task_scratch(t, sizeof *r);
	if (!r)
		return;
	r->task = t;
	r->reserves = reserves;
	task_at_home(t, reserve_at_home, reserve_finish);
}

// 3rdPty, LongID and extents are obsolete and refused. Byte 1 of both lengths of CDB.
static bool is_plain(struct task *t)
{
	if (!(t->cdb[1] & 0x1f))
		return true;
	task_invalid_cdb(t, 1, -1);
	return false;
}

void reserve_run(struct task *t)
{
	if (is_plain(t))
		reserve_start(t, true);
}

void release_run(struct task *t)
{
	if (is_plain(t))
		reserve_start(t, false);
}
