// SPDX-License-Identifier: BSD-2-Clause
// ABORT TASK for commands that take too long, one at a time, on the session's worker. A target that
// does not abort loses its connection, which ends the command.
#include <errno.h>

#include "initiator/scsi_protocol.h"

// A command whose time is over, and which has not been aborted.
static struct scsi_cmd *late_command(struct scsi_session *s)
{
	list_for_each (it, &s->flying) {
		struct scsi_cmd *c = list_entry(it, struct scsi_cmd, link);
		if (c->is_timed_out && c->sent)
			return c;
	}
	return NULL;
}

static void give_up(struct scsi_session *s)
{
	struct scsi_session_info info = { 0 };
	struct err e;
	s->protocol.info(s, &info);
	err_set(&e, -ETIMEDOUT, "%s: a command timed out and ABORT TASK failed", info.peer);
	s->protocol.give_up(s, &e);
}

static void late_done(struct scsi_tmf *t)
{
	struct scsi_session *s = t->arg;
	s->is_late_used = false;
	if (t->res || !s->is_up)
		return;
	struct scsi_cmd *c = late_command(s);
	if (c && c == t->cmd)
		give_up(s);
	else if (c)
		scsi_cmd_late(s, c);
}

void scsi_cmd_late(struct scsi_session *s, struct scsi_cmd *c)
{
	if (s->is_late_used)
		return; // late_done continues with the next one
	s->late = (struct scsi_tmf){
		.function = SCSI_TMF_ABORT_TASK, .cmd = c, .done = late_done, .arg = s
	};
	s->is_late_used = scsi_tmf_submit(s, &s->late) == 0;
}
