// SPDX-License-Identifier: BSD-2-Clause
// Task management of a session, on its worker: the part that all protocols share. A queue, of which
// the protocol has the first request: one at a time, which RFC 7143 11.5 and every target support.
// SAM-5 7.
#include <errno.h>

#include "initiator/scsi_protocol.h"

static struct scsi_tmf *first(struct scsi_session *s)
{
	struct list *l = list_first(&s->tmfs);
	return l ? list_entry(l, struct scsi_tmf, link) : NULL;
}

// --- the end of a request ---

static void run_over(struct defer *d)
{
	struct scsi_session *s = container_of(d, struct scsi_session, tmf_defer);
	struct list *l;
	while ((l = list_pop_front(&s->tmfs_over))) {
		struct scsi_tmf *t = list_entry(l, struct scsi_tmf, link);
		t->done(t);
	}
}

static void end_first(struct scsi_session *s, int res)
{
	struct scsi_tmf *t = first(s);
	list_remove(&t->link);
	t->res = res;
	s->is_tmf_sent = false;
	list_push_back(&s->tmfs_over, &t->link);
	worker_defer(s->worker, &s->tmf_defer, run_over);
}

void scsi_tmfs_lost(struct scsi_session *s)
{
	while (first(s))
		end_first(s, -ENOTCONN);
}

void scsi_tmfs_done(struct scsi_session *s)
{
	scsi_tmfs_lost(s);
	worker_defer_cancel(&s->tmf_defer);
	run_over(&s->tmf_defer);
}

// --- sending ---

bool scsi_cmd_is_sent(const struct scsi_session *s, const struct scsi_cmd *c)
{
	list_for_each (it, &s->flying)
		if (list_entry(it, struct scsi_cmd, link) == c)
			return c->sent;
	return false;
}

// The command of a request may have ended while the request waited.
static int send_first(struct scsi_session *s)
{
	struct scsi_tmf *t = first(s);
	if (t->cmd && !scsi_cmd_is_sent(s, t->cmd)) {
		t->response = SCSI_TMF_NO_TASK;
		return -ESRCH;
	}
	t->response = SCSI_TMF_UNSUPPORTED;
	return s->protocol.task_mgmt(s, t);
}

static void pump(struct scsi_session *s)
{
	while (s->is_up && first(s) && !s->is_tmf_sent) {
		s->is_tmf_sent = true;
		if (send_first(s) < 0)
			end_first(s, 0);
	}
}

void scsi_tmf_ended(struct scsi_session *s, int res)
{
	end_first(s, res);
	pump(s);
}

int scsi_tmf_submit(struct scsi_session *s, struct scsi_tmf *t)
{
	if (!s->is_up || s->is_leaving)
		return -ENOTCONN;
	if ((t->function == SCSI_TMF_ABORT_TASK) != !!t->cmd || t->function >= SCSI_TMF_COUNT)
		return -EINVAL;
	if (t->cmd && !scsi_cmd_is_sent(s, t->cmd))
		return -ESRCH;
	t->res = 0;
	list_push_back(&s->tmfs, &t->link);
	pump(s);
	return 0;
}
