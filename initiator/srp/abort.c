// SPDX-License-Identifier: BSD-2-Clause
// ABORT TASK for commands that take too long, one at a time, on the session's worker. A target that
// does not abort loses its session, which ends the command.
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

static void late_done(struct scsi_tmf *t)
{
	struct srps_session *s = t->arg;
	struct err e;
	s->is_late_used = false;
	if (t->res || s->state != SRPS_UP)
		return;
	struct scsi_cmd *c = late_command(s);
	if (c && c == t->cmd) {
		err_set(&e, -ETIMEDOUT, "%s: a command timed out and ABORT TASK failed",
			s->info.peer);
		srps_lost(s, &e, false);
	} else if (c) {
		srps_abort(&s->scsi, c);
	}
}

void srps_abort(struct scsi_session *scsi, struct scsi_cmd *c)
{
	struct srps_session *s = srps_of(scsi);
	if (s->is_late_used)
		return; // late_done continues with the next one
	s->late = (struct scsi_tmf){
		.function = SCSI_TMF_ABORT_TASK, .cmd = c, .done = late_done, .arg = s
	};
	s->is_late_used = scsi_tmf_submit(scsi, &s->late) == 0;
}
