// SPDX-License-Identifier: BSD-2-Clause
// PERSISTENT RESERVE OUT (SPC-4 6.16): from the parameter list on the task's worker to the
// LU's home worker, where the next table is created, stored and passed to every channel.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/offload.h"
#include "target/scsi/alua/alua.h"
#include "target/scsi/handler.h"
#include "target/scsi/lu_round.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/opcode.h"
#include "target/scsi/reservations/aptpl.h"
#include "target/scsi/reservations/commands.h"
#include "target/scsi/reservations/request.h"
#include "target/scsi/reservations/state.h"
#include "target/scsi/state_file.h"
#include "target/scsi/taskset.h"
#include "target/scsi/ua.h"
#include "transport/wire/be.h"

// One command. The task's scratch.
struct pr_out {
	struct pr_op op;
	struct task *task;
	struct pr_request request;
	struct pr_port self;
	struct pr_policy policy;
	uint64_t nexus_id;
	bool tas;
	struct pr_result result;
	struct pr_view *old;
	enum scsi_status status; // the answer
	uint32_t sense;
	// The APTPL file; no text: it is removed.
	struct offload offload;
	char *text;
	size_t text_len;
	int stored;
};

// The effect of the command on nl's nexus, by the old table.
static unsigned effect_on(const struct pr_out *o, const struct nexus_lun *nl)
{
	struct pr_port port;
	uint32_t i = pr_port_of_nexus(&port, nl->nexus) ? pr_find(o->old, &port) : PR_NOBODY;
	return i == PR_NOBODY ? PR_EFFECT_NONE : o->result.effects[i];
}

// Reservation commands run one after the other: later ones see the result of this one, and waiting
// for them would be a deadlock.
static bool is_special(const struct task *t)
{
	return t->row && t->row->pr == PR_SPECIAL;
}

static struct task *next_victim(const struct nexus_lun *nl)
{
	list_for_each (it, &nl->open) {
		struct task *t = list_entry(it, struct task, nl_link);
		if (!is_special(t))
			return t;
	}
	return NULL;
}

// True if a command was still under way.
static bool abort_tasks(const struct pr_out *o, const struct nexus_lun *nl)
{
	bool is_self = nl->nexus->id == o->nexus_id, any = false;
	for (struct task *t; (t = next_victim(nl)); any = true)
		task_abort(t, o->tas && !is_self);
	return any;
}

static void affect(struct pr_out *o, struct nexus_lun *nl)
{
	unsigned effect = effect_on(o, nl), ua = effect & ~(unsigned)PR_EFFECT_ABORT;
	bool any = effect & PR_EFFECT_ABORT && abort_tasks(o, nl);
	if (nl->nexus->id == o->nexus_id)
		return;
	if (any && !o->tas)
		ua_set(nl, UA_COMMANDS_CLEARED);
	if (ua < UA_MAX)
		ua_set(nl, (enum ua)ua);
}

static void table_show(struct lu_channel *c, struct lu_round *r)
{
	struct pr_out *o = container_of(container_of(r, struct pr_op, round), struct pr_out, op);
	struct pr_view *before = c->pr, *v = o->result.view;
	c->pr = v->type ? pr_view_get(v) : NULL;
	pr_view_put(before);
	if (!o->result.has_effects)
		return;
	list_for_each_safe (it, &c->nexus_luns)
		affect(o, list_entry(it, struct nexus_lun, channel_link));
}

// PREEMPT AND ABORT completes when the aborted tasks have ended.
static bool awaits_aborted(const struct lu_round *r, const struct task *t)
{
	const struct pr_op *op = container_of(r, const struct pr_op, round);
	const struct pr_out *o = container_of(op, const struct pr_out, op);
	return o->request.action == PR_OUT_PREEMPT_ABORT && !is_special(t) && task_is_aborting(t);
}

static void table_shown(struct lu_round *r)
{
	home_change_end(&container_of(r, struct pr_op, round)->home);
}

static const struct lu_round_ops install_round = {
	.each = table_show,
	.awaits = awaits_aborted,
	.done = table_shown,
};

static void table_install(struct pr_out *o)
{
	struct lu *lu = o->op.home.lu;
	pthread_mutex_lock(&lu->lock);
	pr_view_put(lu->pr->view);
	lu->pr->view = pr_view_get(o->result.view);
	pthread_mutex_unlock(&lu->lock);
	lu_round_start(&o->op.round, lu, &install_round);
}

static void pr_out_fail(struct pr_out *o, enum scsi_status status, uint32_t sense)
{
	o->status = status;
	o->sense = sense;
	home_change_end(&o->op.home);
}

static void file_write(struct offload *f)
{
	struct pr_out *o = container_of(f, struct pr_out, offload);
	const struct lu *lu = o->op.home.lu;
	char name[64];
	snprintf(name, sizeof name, "aptpl_%s", lu->unit_serial);
	if (o->text)
		o->stored = state_file_write(lu->state_dir, "pr", name, o->text, o->text_len, NULL);
	else
		o->stored = state_file_remove(lu->state_dir, "pr", name, NULL);
}

static void file_written(struct offload *f)
{
	struct pr_out *o = container_of(f, struct pr_out, offload);
	if (o->stored)
		pr_out_fail(o, STATUS_CHECK_CONDITION, SENSE_INTERNAL_FAILURE);
	else
		table_install(o);
}

static void pr_out_on_turn(struct home_change *c)
{
	struct pr_out *o = container_of(c, struct pr_out, op.home);
	struct pr_view *old = c->lu->pr->view;
	pr_apply(&o->result, old, &o->request, &o->self, &o->policy);
	if (o->result.status != STATUS_GOOD) {
		pr_out_fail(o, o->result.status, o->result.sense);
		return;
	}
	o->old = pr_view_get(old);
	if (!o->result.view->aptpl && !(old && old->aptpl)) {
		table_install(o);
		return;
	}
	if (o->result.view->aptpl && !(o->text = pr_store_format(o->result.view, &o->text_len))) {
		pr_out_fail(o, STATUS_CHECK_CONDITION, SENSE_INTERNAL_FAILURE);
		return;
	}
	o->offload.work = file_write;
	o->offload.done = file_written;
	offload_submit(&o->offload);
}

static void pr_out_ended(struct home_change *c)
{
	struct pr_out *o = container_of(c, struct pr_out, op.home);
	pr_request_done(&o->request);
	pr_view_put(o->result.view);
	pr_view_put(o->old);
	free(o->result.effects);
	free(o->text);
	task_home_done(o->task);
}

static void pr_out_at_home(struct task *t)
{
	struct pr_out *o = t->scratch;
	o->op.home.run = pr_out_on_turn;
	o->op.home.ended = pr_out_ended;
	home_change_start(&o->op.home, t->lu, &t->lu->pr->queue);
}

static void pr_out_finish(struct task *t)
{
	const struct pr_out *o = t->scratch;
	if (o->status == STATUS_CHECK_CONDITION)
		task_check(t, o->sense, NULL);
	else
		task_finish(t, o->status);
}

// REGISTER AND MOVE: the port must be a port of this LU.
static bool find_port(struct pr_out *o)
{
	struct pr_request *r = &o->request;
	char *name = r->move_port_name;
	if (alua_port_name(o->task->lu, r->move_port, name, sizeof r->move_port_name,
			   &r->move_protocol)) {
		for (; *name; name++)
			*name = *name >= 'A' && *name <= 'Z' ? (char)(*name | 0x20) : *name;
		return true;
	}
	if (r->move_port != o->self.relative_port)
		return false;
	memcpy(name, o->self.target_port, sizeof r->move_port_name);
	r->move_protocol = (uint8_t)o->task->nexus->info.protocol;
	return true;
}

static void parsed(struct task *t)
{
	struct pr_out *o = t->scratch;
	const struct lu *lu = t->lu;
	o->policy = (struct pr_policy){ .can_persist = lu->state_dir,
					.force_aptpl = lu_setting(&lu->attr.force_pr_aptpl),
					.enforce_isids = lu_setting(&lu->attr.enforce_pr_isids) };
	o->nexus_id = t->nexus->id;
	o->tas = lu_setting(&lu->attr.emulate_tas);
	task_at_home(t, pr_out_at_home, pr_out_finish);
}

static void fetched(struct task *t)
{
	struct pr_out *o = task_scratch(t, sizeof *o);
	int field;
	if (!o)
		return;
	o->task = t;
	uint32_t sense =
		pr_request_parse(&o->request, t->cdb, task_params(t), get_be32(t->cdb + 5), &field);
	if (!sense && (!pr_port_of_nexus(&o->self, t->nexus) ||
		       (o->request.action == PR_OUT_REGISTER_MOVE && !find_port(o)))) {
		sense = SENSE_INVALID_FIELD_PARAM;
		field = 18;
	}
	if (!sense) {
		parsed(t);
		return;
	}
	pr_request_done(&o->request);
	task_check_param(t, sense, field);
}

void pr_out_run(struct task *t)
{
	uint32_t len = get_be32(t->cdb + 5);
	// The longest valid list: PR_TIDS_MAX TransportIDs.
	if (len < 24 || len > 28 + PR_TIDS_MAX * PR_TID_MAX)
		task_check(t, SENSE_PARAM_LIST_LENGTH, NULL);
	else
		task_fetch_params(t, len, fetched);
}
