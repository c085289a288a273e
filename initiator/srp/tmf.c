// SPDX-License-Identifier: BSD-2-Clause
// Task management of a session, on its worker. T10 SRP 6.7, 6.9.
//
// ABORT TASK is sent on the command's channel, whose order ensures that a response to the command
// comes before that to the request. For the same reason a function for a logical unit is sent on
// each channel in turn, and nothing else is sent until the last one was answered.
#include <errno.h>
#include <string.h>

#include "initiator/srp/session_priv.h"

static const uint8_t functions[SCSI_TMF_COUNT] = {
	[SCSI_TMF_ABORT_TASK] = SRP_TMF_ABORT_TASK,
	[SCSI_TMF_ABORT_TASK_SET] = SRP_TMF_ABORT_TASK_SET,
	[SCSI_TMF_CLEAR_TASK_SET] = SRP_TMF_CLEAR_TASK_SET,
	[SCSI_TMF_LUN_RESET] = SRP_TMF_LUN_RESET,
};

bool srps_tmf_holds(const struct srps_session *s)
{
	return s->tmf && !s->tmf->cmd;
}

// --- sending ---

// Without a credit the next tick tries again.
static void send_tmf(struct srps_session *s)
{
	const struct scsi_tmf *t = s->tmf;
	const uint8_t *lun = t->cmd ? t->cmd->lun : t->lun;
	s->is_tmf_due = srpi_task_mgmt(s->channels[s->tmf_at].ch, functions[t->function], lun,
				       s->aborting ? &s->aborting->srp : NULL) < 0;
}

int srps_tmf_send(struct scsi_session *scsi, struct scsi_tmf *t)
{
	struct srps_session *s = srps_of(scsi);
	if (!functions[t->function])
		return -EOPNOTSUPP;
	if (s->state != SRPS_UP)
		return 0; // the loss that follows ends t
	s->tmf = t;
	s->aborting = t->cmd ? t->cmd->sent : NULL;
	s->tmf_at = s->aborting ? (unsigned)(s->aborting->on - s->channels) : 0;
	s->tmf_deadline_ns = worker_now(s->worker) + s->config.abort_timeout * NS_PER_SEC;
	send_tmf(s);
	return 0;
}

// --- the response ---

// Those of a channel to a logical unit. A command's end may end the session.
static void drop_tasks(struct srps_session *s, struct srps_channel *on, const uint8_t *lun)
{
	struct list gone;
	list_init(&gone);
	list_for_each_safe (it, &s->scsi.flying) {
		struct scsi_cmd *c = list_entry(it, struct scsi_cmd, link);
		struct srps_task *t = c->sent;
		if (!t || t->on != on || memcmp(c->lun, lun, sizeof c->lun))
			continue;
		list_remove(it);
		list_push_back(&gone, it);
	}
	if (!memcmp(lun, on->ping.lun, sizeof on->ping.lun))
		srps_ping_aborted(on);
	while (!list_empty(&gone)) {
		struct scsi_cmd *c = list_entry(gone.next, struct scsi_cmd, link);
		struct srps_task *t = c->sent;
		list_remove(&c->link);
		list_push_back(&s->scsi.flying, &c->link);
		if (s->state == SRPS_UP)
			srpi_drop(on->ch, &t->srp, -ECANCELED);
	}
}

// A command that is not there any more was answered before.
static enum scsi_tmf_response aborted(struct srps_session *s)
{
	struct srps_task *t = s->aborting;
	if (t)
		srpi_drop(t->on->ch, &t->srp, -ECANCELED);
	return t ? SCSI_TMF_COMPLETE : SCSI_TMF_NO_TASK;
}

static enum scsi_tmf_response failed(int code)
{
	return code == SRP_RSP_TMF_UNSUPPORTED ? SCSI_TMF_UNSUPPORTED : SCSI_TMF_REJECTED;
}

static void ended(struct srps_session *s, enum scsi_tmf_response response)
{
	s->tmf->response = response;
	s->tmf = NULL;
	s->aborting = NULL;
	scsi_session_pump_later(&s->scsi);
	scsi_tmf_ended(&s->scsi, 0);
}

void srps_tmf_done(struct srpi_channel *ch, int code)
{
	struct srps_session *s = ((struct srps_channel *)srpi_role(ch))->s;
	struct scsi_tmf *t = s->tmf;
	enum scsi_tmf_response response = SCSI_TMF_COMPLETE;
	if (code < 0 || s->state != SRPS_UP || !t)
		return;
	if (code != SRP_RSP_COMPLETE)
		response = failed(code);
	else if (t->cmd)
		response = aborted(s);
	else
		drop_tasks(s, &s->channels[s->tmf_at], t->lun);
	if (s->state != SRPS_UP || s->tmf != t) // a command's end may have ended it
		return;
	if (response == SCSI_TMF_COMPLETE && !t->cmd && s->tmf_at + 1 < s->channel_count) {
		s->tmf_at++;
		send_tmf(s);
	} else {
		ended(s, response);
	}
}

// --- every second ---

static void give_up(struct srps_session *s, const char *why)
{
	struct err e;
	err_set(&e, -ETIMEDOUT, "%s: task management: %s", s->info.peer, why);
	srps_lost(s, &e, false);
}

void srps_tmf_tick(struct srps_session *s, uint64_t now)
{
	if (!s->tmf)
		return;
	if (s->is_tmf_due && s->tmf->cmd && !s->aborting)
		ended(s, SCSI_TMF_NO_TASK);
	else if (now >= s->tmf_deadline_ns)
		give_up(s, s->is_tmf_due ? "the target grants no requests"
					 : "the target does not answer");
	else if (s->is_tmf_due)
		send_tmf(s);
}
