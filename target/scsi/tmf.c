// SPDX-License-Identifier: BSD-2-Clause
// Task management functions that concern a logical unit (SAM-5 7), on every worker that
// serves it. Begins and ends on the nexus's worker.
#include "target/scsi/tmf.h"

#include "target/scsi/lu.h"
#include "target/scsi/lu_channel.h"
#include "target/scsi/lu_part.h"
#include "target/scsi/lu_round.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/task_abort.h"

static bool tas_applies(const struct task *t, const void *arg)
{
	const struct tmf *f = arg;
	return t->nexus->id != f->nexus_id && lu_setting(&f->lu->attr.emulate_tas);
}

static void clear_each(struct lu_channel *c, struct lu_round *r)
{
	struct tmf *f = container_of(r, struct tmf, round);
	// Without TAS an initiator learns from a unit attention that another one has cleared
	// its commands (SAM-5 7.4).
	list_for_each (it, &c->tasks) {
		struct task *t = list_entry(it, struct task, link);
		if (t->state != TASK_DONE && t->nexus->id != f->nexus_id &&
		    !lu_setting(&f->lu->attr.emulate_tas))
			ua_set(t->nl, UA_COMMANDS_CLEARED);
	}
	tasks_abort(c, tas_applies, f);
}

static void reset_each(struct lu_channel *c, struct lu_round *r)
{
	struct tmf *f = container_of(r, struct tmf, round);
	tasks_abort(c, tas_applies, f);
	list_for_each (it, &c->nexus_luns) {
		struct nexus_lun *nl = list_entry(it, struct nexus_lun, channel_link);
		nexus_lun_allow_removal(nl);
		ua_set(nl, UA_DEVICE_RESET);
	}
}

static bool awaits_all(const struct lu_round *r, const struct task *t)
{
	return task_is_aborting(t);
}

static void tmf_next_reset(struct tmf *f);

static bool is_for_all(const struct tmf *f)
{
	return f->function == TMF_TARGET_RESET || f->function == TMF_NEXUS_RESET;
}

static void tmf_end(struct tmf *f, enum tmf_result result)
{
	struct lu *lu = f->lu;
	f->lu = NULL;
	f->done(f, result);
	lu_put(lu);
}

static void tmf_round_done(struct lu_round *r)
{
	tmf_end(container_of(r, struct tmf, round), TMF_COMPLETE);
}

// One logical unit after the other, each in its own turn of the worker's loop: a map may have
// thousands.
static void reset_next(struct msg *m)
{
	struct tmf *f = container_of(m, struct tmf, msg);
	if (f->has_lost_nexus)
		tmf_end(f, TMF_COMPLETE);
	else
		tmf_next_reset(f);
}

static void reset_back(struct msg *m)
{
	struct tmf *f = container_of(m, struct tmf, msg);
	if (!is_for_all(f) || f->has_lost_nexus) {
		tmf_end(f, TMF_COMPLETE);
		return;
	}
	lu_put(f->lu);
	f->lu = NULL;
	m->fn = reset_next;
	worker_post(f->worker, m);
}

static void reset_parts(struct msg *m)
{
	struct tmf *f = container_of(m, struct tmf, msg);
	for (const struct lu_part *const *p = f->lu->server->parts; *p; p++) {
		if ((*p)->reset)
			(*p)->reset(f->lu);
	}
	if (f->worker == f->lu->home) {
		reset_back(m);
		return;
	}
	m->fn = reset_back;
	worker_post(f->worker, m);
}

// A round may have waited for long. What a new session of the same initiator has reserved since
// its old one was lost is not what that one wanted to reset.
static void reset_round_done(struct lu_round *r)
{
	struct tmf *f = container_of(r, struct tmf, round);
	if (f->has_lost_nexus) {
		tmf_end(f, TMF_COMPLETE);
		return;
	}
	if (f->worker == f->lu->home) {
		reset_parts(&f->msg);
		return;
	}
	f->msg.fn = reset_parts;
	worker_post(f->lu->home, &f->msg);
}

static const struct lu_round_ops clear_round = {
	.each = clear_each,
	.awaits = awaits_all,
	.done = tmf_round_done,
};

static void clear_task_set(struct tmf *f)
{
	lu_round_start(&f->round, f->lu, &clear_round);
}

static const struct lu_round_ops reset_round = {
	.each = reset_each,
	.awaits = awaits_all,
	.done = reset_round_done,
};

static void reset_lu(struct tmf *f)
{
	lu_round_start(&f->round, f->lu, &reset_round);
}

static void own_tasks_ended(struct msg *m)
{
	struct tmf *f = container_of(m, struct tmf, wait.msg);
	reset_back(&f->msg);
}

static void abort_task_set(struct tmf *f)
{
	tasks_abort_nexus(f->nl, false);
	if (!taskset_await_aborts(f->nl, &f->wait, own_tasks_ended))
		reset_back(&f->msg);
}

// A reset through a write-protected path ends the tasks of its own nexus only: an initiator can
// recover with it, and others do not notice.
static void reset_own(struct tmf *f)
{
	nexus_lun_allow_removal(f->nl);
	ua_set(f->nl, UA_DEVICE_RESET);
	abort_task_set(f);
}

// Other nexuses notice nothing but the end of what this one had reserved.
static void reset_nexus(struct tmf *f)
{
	nexus_lun_leave(f->nl);
	ua_set(f->nl, UA_NEXUS_LOSS);
	abort_task_set(f);
}

typedef void tmf_fn(struct tmf *f);

static tmf_fn *const functions[] = {
	[TMF_ABORT_TASK_SET] = abort_task_set,
	[TMF_CLEAR_TASK_SET] = clear_task_set,
	[TMF_LU_RESET] = reset_lu,
	[TMF_TARGET_RESET] = reset_lu,
	[TMF_NEXUS_RESET] = reset_nexus,
};

// Those that a write-protected path may use.
static tmf_fn *const protected_functions[] = {
	[TMF_ABORT_TASK_SET] = abort_task_set,
	[TMF_LU_RESET] = reset_own,
	[TMF_TARGET_RESET] = reset_own,
	[TMF_NEXUS_RESET] = reset_nexus,
};

static void tmf_start(struct tmf *f, struct nexus_lun *nl)
{
	tmf_fn *function = (nl->is_write_protected ? protected_functions : functions)[f->function];
	if (!function) {
		f->done(f, TMF_DENIED);
		return;
	}
	f->nl = nl;
	f->lu = lu_get(nl->lu);
	function(f);
}

// TARGET RESET, I_T NEXUS RESET: one logical unit after the other.
static void tmf_next_reset(struct tmf *f)
{
	struct nexus *n = f->nexus;
	while (f->next_lun < n->lun_limit && !n->luns[f->next_lun])
		f->next_lun++;
	if (f->next_lun >= n->lun_limit) {
		tmf_end(f, TMF_COMPLETE);
		return;
	}
	tmf_start(f, n->luns[f->next_lun++]);
}

static bool has_tasks(const struct nexus_lun *nl)
{
	return !list_empty(&nl->open) || !list_empty(&nl->aborting);
}

void tmf_submit(struct tmf *f)
{
	f->lu = NULL;
	f->next_lun = 0;
	f->worker = f->nexus->worker;
	f->nexus_id = f->nexus->id;
	f->has_lost_nexus = false;
	if (is_for_all(f)) {
		tmf_next_reset(f);
		return;
	}
	struct nexus_lun *nl = nexus_find_lun(f->nexus, f->lun);
	if (!nl)
		f->done(f, TMF_NO_LUN);
	else if (f->function == TMF_QUERY_TASK_SET)
		f->done(f, has_tasks(nl) ? TMF_SUCCEEDED : TMF_COMPLETE);
	else
		tmf_start(f, nl);
}

void tmf_lose_nexus(struct tmf *f)
{
	f->has_lost_nexus = true;
	f->nexus = NULL;
}
