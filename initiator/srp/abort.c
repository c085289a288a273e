// SPDX-License-Identifier: BSD-2-Clause
// ABORT TASK for commands that take too long, on the session's worker: on the command's channel,
// whose order ensures that a response to the command comes before that to the abort. One at a time;
// a target that does not abort loses its session, which ends the command. T10 SRP 6.7.
#include <errno.h>

#include "initiator/srp/session_priv.h"

// A command whose time is over, and which has not been aborted.
static struct scsi_cmd *late_command(struct srps_session *s)
{
	list_for_each (it, &s->scsi.flying) {
		struct scsi_cmd *c = list_entry(it, struct scsi_cmd, link);
		if (c->is_timed_out && c->sent)
			return c;
	}
	return NULL;
}

static void give_up(struct srps_session *s, const char *why)
{
	struct err e;
	err_set(&e, -ETIMEDOUT, "%s: a command timed out and ABORT TASK %s", s->info.peer, why);
	srps_lost(s, &e, false);
}

// Without a credit the next tick tries again; see srps_abort_tick().
void srps_abort(struct scsi_session *scsi, struct scsi_cmd *c)
{
	struct srps_session *s = srps_of(scsi);
	struct srps_task *t = c->sent;
	if (s->tmf_on || !t || srpi_task_mgmt(t->on->ch, SRP_TMF_ABORT_TASK, c->lun, &t->srp) < 0)
		return;
	s->tmf_on = t->on;
	s->aborting = t;
	s->tmf_deadline_ns = worker_now(s->worker) + s->config.abort_timeout * NS_PER_SEC;
}

void srps_abort_done(struct srpi_channel *ch, int code)
{
	struct srps_session *s = ((struct srps_channel *)srpi_role(ch))->s;
	struct srps_task *t = s->aborting;
	s->tmf_on = NULL;
	s->aborting = NULL;
	if (code < 0 || s->state != SRPS_UP)
		return;
	if (t && code != SRP_RSP_COMPLETE) {
		give_up(s, "failed");
		return;
	}
	if (t)
		srpi_drop(ch, &t->srp, -ECANCELED);
	struct scsi_cmd *c = s->state == SRPS_UP ? late_command(s) : NULL;
	if (c)
		srps_abort(&s->scsi, c);
}

void srps_abort_tick(struct srps_session *s, uint64_t now)
{
	struct scsi_cmd *c = late_command(s);
	if (s->tmf_on) {
		if (now >= s->tmf_deadline_ns)
			give_up(s, "was not answered");
	} else if (c) {
		srps_abort(&s->scsi, c);
		if (!s->tmf_on)
			give_up(s, "could not be sent: the target grants no requests");
	}
}
