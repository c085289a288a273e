// SPDX-License-Identifier: BSD-2-Clause
// SCSI commands of a session between its queue (scsi_session.c) and the mover: the command window,
// tasks, results. On the session's worker. RFC 7143 4.2.2.1, 11.3, 11.4.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "initiator/iscsi/session_priv.h"
#include "transport/wire/be.h"

_Static_assert((int)SCSI_CDB_LEN == (int)ISCSI_CDB_LEN, "a CDB fits the header");
_Static_assert((int)SCSI_ATTR_SIMPLE == (int)ISCSI_ATTR_SIMPLE &&
		       (int)SCSI_ATTR_ORDERED == (int)ISCSI_ATTR_ORDERED &&
		       (int)SCSI_ATTR_HEAD_OF_QUEUE == (int)ISCSI_ATTR_HEAD_OF_QUEUE &&
		       (int)SCSI_ATTR_ACA == (int)ISCSI_ATTR_ACA,
	       "task attributes are as in the header");

// --- tasks ---

int command_open(struct ini_session *s, struct err *e)
{
	unsigned depth = s->config.queue_depth;
	s->tasks_max = depth < s->dm->tasks_max ? depth : s->dm->tasks_max;
	s->task_size = sizeof(struct ini_task) + s->dm->task_size;
	s->tasks_used = 0;
	s->free_task = NULL;
	s->tasks = calloc(s->tasks_max, s->task_size); // pages are used as tasks are
	return s->tasks ? 0 : err_set(e, -ENOMEM, "session: out of memory for commands");
}

void command_close(struct ini_session *s)
{
	free(s->tasks);
	s->tasks = NULL;
}

static struct ini_task *task_get(struct ini_session *s)
{
	struct ini_task *t = s->free_task;
	if (t)
		s->free_task = t->next_free;
	else
		t = (void *)(s->tasks + s->task_size * s->tasks_used++);
	return t;
}

static void task_put(struct ini_session *s, struct ini_task *t)
{
	t->next_free = s->free_task;
	s->free_task = t;
}

// --- sending ---

unsigned command_room(struct scsi_session *scsi)
{
	struct ini_session *s = ini_of(scsi);
	if (s->state != SESSION_UP || s->is_draining)
		return 0;
	const struct dmi_sns *sns = &s->dm->sns;
	unsigned tasks = s->tasks_max - scsi->sent_count;
	if (!serial32_le(sns->cmd_sn, sns->max_cmd_sn))
		return 0;
	uint32_t window = sns->max_cmd_sn - sns->cmd_sn + 1;
	return window < tasks ? window : tasks;
}

void command_send(struct scsi_session *scsi, struct scsi_cmd *c)
{
	struct ini_session *s = ini_of(scsi);
	struct ini_task *t = task_get(s);
	t->cmd = c;
	t->dm.lun = c->lun;
	t->dm.cdb = c->cdb;
	t->dm.attr = c->attr;
	t->dm.is_read = c->is_read;
	t->dm.is_write = c->is_write;
	t->dm.sg = c->sg;
	t->dm.nsg = c->nsg;
	t->dm.len = c->len;
	t->dm.sense = c->sense;
	c->sent = t;
	s->dm->ops->command(s->dm, &t->dm);
}

// --- the end of a command ---

static int take_result(struct scsi_cmd *c, const struct dmi_task *t, int res)
{
	c->status = t->status;
	c->is_under = t->residual_flags & ISCSI_RSP_UNDERFLOW;
	c->is_over = t->residual_flags & ISCSI_RSP_OVERFLOW;
	c->residual = t->residual;
	c->data_len = t->data_len;
	c->sense_len = t->sense_len;
	if (res || t->response == ISCSI_RSP_COMPLETED)
		return res;
	snprintf(c->refusal, sizeof c->refusal, "response 0x%02x", t->response);
	return -EREMOTEIO;
}

void command_done(struct dmi *dm, struct dmi_task *dt, int res)
{
	struct ini_session *s = dm->role;
	struct ini_task *t = container_of(dt, struct ini_task, dm);
	struct scsi_cmd *c = t->cmd;
	res = take_result(c, dt, res);
	c->sent = NULL;
	task_put(s, t);
	if (res == -EPIPE && s->dm == dm)
		s->is_draining = true; // the connection is closing: send nothing more
	scsi_cmd_ended(c, res);
}

bool command_rejected(struct ini_session *s, uint32_t itt)
{
	list_for_each (it, &s->scsi.flying) {
		struct scsi_cmd *c = list_entry(it, struct scsi_cmd, link);
		if (!c->sent || task_of(c)->itt != itt)
			continue;
		c->why = -EPROTO;
		return true;
	}
	return false;
}
