// SPDX-License-Identifier: BSD-2-Clause
// The check of a path after a login and from time to time: what the unit says of itself, whether it
// is the disk, and its access state. On the disk's worker.
#include <errno.h>
#include <string.h>

#include "initiator/disk/disk_priv.h"

#define WAIT_US	       100000 // for a unit that is busy or becoming ready
#define WAITS_MAX      300
#define ATTENTIONS_MAX 32
#define KEY_NOT_READY  2
#define KEY_ATTENTION  6

static void step_done(struct scsi_cmd *c);

static void over(struct disk_path *p)
{
	p->is_checking = false;
	timer_cancel(p->disk->worker, &p->wait);
}

static void fail(struct disk_path *p, struct err *why)
{
	over(p);
	err_prefix(why, "LUN %u", p->config.lun);
	path_set_state(p, DISK_PATH_FAULTY, why);
	p->disk->events->looked(p->disk, why);
}

// --- the end ---

static bool is_same(struct disk_path *p, struct err *why)
{
	const struct disk *d = p->disk;
	if (!d->facts.disk.block_size || d->config.allows_replaced)
		return true;
	enum scsi_lu_change change =
		identity_compare(&d->facts.identity, &p->found.identity, 0, why);
	return change == SCSI_LU_SAME || change == SCSI_LU_GREW;
}

// Two disks that report no name may look alike. Without one only the first path serves, whichever
// is up, so that the disk is the same each time; it is known again as before.
static bool is_proven(const struct disk_path *p, struct err *why)
{
	const struct disk *d = p->disk;
	const struct identity *found = &p->found.identity;
	bool is_first = !d->facts.disk.block_size;
	bool is_compared = !is_first && !d->config.allows_replaced;
	if (p->is_proven || (is_first && !p->index) ||
	    (is_compared ? identity_shares_name(&d->facts.identity, found)
			 : identity_has_name(found)))
		return true;
	err_set(why, -ENODEV,
		"cannot tell whether this is the same disk: no serial number and no designator "
		"(VPD pages 80h and 83h) that both paths report (set a serial number at the "
		"target, or attach only one path)");
	return false;
}

static void settle(struct disk_path *p)
{
	struct disk *d = p->disk;
	struct err why = { 0 };
	bool serves = alua_rank(p->alua, false) != ALUA_USELESS;
	if (fence_path_checked(p)) { // which has it checked again
		path_set_state(p, DISK_PATH_CHECKING, NULL);
		return;
	}
	path_set_state(p, serves ? DISK_PATH_UP : DISK_PATH_STANDBY, NULL);
	if (!serves)
		err_set(&why, -EHOSTUNREACH, "%s: access state: %s", p->config.name,
			alua_text(p->alua));
	d->events->looked(d, &why);
	if (p->is_check_due)
		check_begin(p);
}

// An unavailable unit does not tell its size: it is compared once it serves I/O.
static bool is_silent(const struct disk_path *p)
{
	return alua_rank(p->alua, false) == ALUA_USELESS && !p->found.identity.block_size;
}

static void finish(struct disk_path *p)
{
	struct disk *d = p->disk;
	struct err why = { 0 };
	if (is_silent(p)) {
		over(p);
		settle(p);
		return;
	}
	if (facts_evaluate(&p->found, &why)) {
		fail(p, &why);
		return;
	}
	over(p);
	if (!is_same(p, &why)) {
		path_set_wrong(p, &why);
		return;
	}
	if (!is_proven(p, &why)) {
		fail(p, &why);
		return;
	}
	p->is_proven = true;
	d->events->found(d, &p->found);
	settle(p);
}

// --- steps ---

static void send_groups(struct disk_path *p)
{
	struct scsi_args args = { .len = sizeof p->data };
	scsi_cmd_set(&p->cmd, p->config.lun, SCSI_REPORT_PORT_GROUPS, &args, p->data,
		     sizeof p->data);
}

static void send_fact(struct disk_path *p)
{
	const struct facts_step *s = &facts_steps[p->step];
	scsi_cmd_set(&p->cmd, p->config.lun, s->op, &s->args, p->data, s->bytes);
}

static void send(struct disk_path *p)
{
	struct err why;
	memset(p->data, 0, sizeof p->data);
	if (p->step < facts_step_count)
		send_fact(p);
	else
		send_groups(p);
	p->cmd.is_once = true;
	p->cmd.done = step_done;
	p->cmd.arg = p;
	int r = scsi_cmd_submit(p->session, &p->cmd);
	p->is_out = !r;
	if (r && r != -ENOTCONN && r != -ECANCELED) {
		err_errno(&why, r, "check");
		fail(p, &why);
	}
}

static void next(struct disk_path *p)
{
	p->step++;
	if (p->step < facts_step_count && facts_steps[p->step].is_promises &&
	    !p->found.has_promises_page)
		p->step++;
	bool has_groups = p->found.has_alua && p->found.has_port_group;
	if (p->step < facts_step_count || (p->step == facts_step_count && has_groups)) {
		send(p);
		return;
	}
	if (!has_groups)
		p->alua = ALUA_NONE;
	p->has_alua = has_groups;
	finish(p);
}

static void take(struct disk_path *p, const struct scsi_cmd *c)
{
	if (p->step < facts_step_count) {
		if (facts_steps[p->step].take)
			facts_steps[p->step].take(&p->found, p->data, c->data_len);
	} else if (!alua_find(p->data, c->data_len, false, p->found.port_group, &p->alua,
			      &p->is_preferred)) {
		p->alua = ALUA_UNREPORTED;
		p->is_preferred = false;
	}
}

static bool is_waiting(const struct scsi_cmd *c, const struct scsi_sense *s)
{
	if (c->status == SCSI_BUSY || c->status == SCSI_TASK_SET_FULL)
		return true;
	return s->key == KEY_NOT_READY && s->asc == 0x04 && (s->ascq == 0x01 || s->ascq == 0x0a);
}

// A port group that is in standby, unavailable or offline may refuse all but the commands of SPC-5
// 5.17.2.6.
static bool may_be_refused(const struct disk_path *p, const struct scsi_cmd *c,
			   const struct scsi_sense *s)
{
	if (s->key == KEY_NOT_READY && s->asc == 0x04 &&
	    (s->ascq == 0x0b || s->ascq == 0x0c || s->ascq == 0x12))
		return true;
	return scsi_cmd_is_refused(c) &&
	       (p->step >= facts_step_count || facts_steps[p->step].is_optional);
}

// Without a list of groups the sense data is all that is known of the state.
static void refused(struct disk_path *p, const struct scsi_sense *s)
{
	if (p->step < facts_step_count)
		return;
	p->alua = s->key != KEY_NOT_READY ? ALUA_UNREPORTED
		  : s->ascq == 0x0b	  ? ALUA_STANDBY
					  : ALUA_UNAVAILABLE;
	p->is_preferred = false;
}

static void failed(struct disk_path *p, const struct scsi_cmd *c)
{
	struct err why;
	char text[200];
	scsi_cmd_text(c, text, sizeof text);
	err_set(&why, c->res ? c->res : -EIO, "%s: %s",
		scsi_op_name(p->step < facts_step_count ? facts_steps[p->step].op
							: SCSI_REPORT_PORT_GROUPS),
		text);
	fail(p, &why);
}

static void answered(struct disk_path *p, const struct scsi_cmd *c)
{
	struct scsi_sense s = { 0 };
	if (c->status == SCSI_CHECK_CONDITION)
		scsi_sense_parse(c->sense, c->sense_len, &s);
	if (scsi_cmd_is_good(c)) {
		take(p, c);
		next(p);
	} else if (s.key == KEY_ATTENTION && p->attentions++ < ATTENTIONS_MAX) {
		notice_attention(p, s.asc, s.ascq);
		if (s.asc == 0x2a && (s.ascq == 0x06 || s.ascq == 0x07)) // access states
			check_states(p->disk); // this path, too: once it is over
		send(p);
	} else if (is_waiting(c, &s) && p->waits++ < WAITS_MAX) {
		timer_arm(p->disk->worker, &p->wait, WAIT_US);
	} else if (may_be_refused(p, c, &s)) {
		refused(p, &s);
		next(p);
	} else {
		failed(p, c);
	}
}

// A slow unit is not a wrong one, and its session ends if it is silent. A path that is up stays so
// until the next check; another one is checked again.
static void late(struct disk_path *p)
{
	over(p);
	if (p->state == DISK_PATH_CHECKING)
		check_begin(p);
}

static void step_done(struct scsi_cmd *c)
{
	struct disk_path *p = c->arg;
	p->is_out = false;
	if (!p->is_checking) {
		if (p->is_check_due && !p->is_leaving && p->session)
			check_begin(p);
		return;
	}
	if (c->res == -ENOTCONN || c->res == -ESHUTDOWN || c->res == -ECANCELED)
		over(p); // on_up() or the next session begins again
	else if (c->res == -ETIMEDOUT && p->disk->is_ready)
		late(p);
	else if (c->res)
		failed(p, c);
	else
		answered(p, c);
}

static void on_wait(struct timer *t)
{
	send(container_of(t, struct disk_path, wait));
}

void check_begin(struct disk_path *p)
{
	p->is_check_due = p->is_checking || p->is_out;
	if (p->is_check_due || !p->session)
		return;
	timer_init(&p->wait, on_wait);
	p->is_checking = true;
	p->step = p->waits = p->attentions = 0;
	p->found = (struct facts){ 0 };
	send(p);
}

void check_states(struct disk *d)
{
	for (unsigned i = 0; i < d->path_count; i++) {
		struct disk_path *p = &d->paths[i];
		if (p->has_alua && p->session && scsi_session_is_up(p->session) &&
		    p->state != DISK_PATH_FAULTY)
			check_begin(p);
	}
}

void check_end(struct disk_path *p)
{
	p->is_check_due = false;
	if (p->is_checking)
		over(p);
}
