// SPDX-License-Identifier: BSD-2-Clause
// SCSI commands of a session between its queue (scsi_session.c) and its channels, in turn. On the
// session's worker. T10 SRP 5.5.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/srp/session_priv.h"

_Static_assert((int)SCSI_CDB_LEN == (int)SRP_CDB_LEN, "a CDB fits");
_Static_assert((int)SCSI_SENSE_MAX >= (int)SRPI_SENSE_MAX, "sense data fits");

// --- tasks ---

int srps_commands_open(struct srps_session *s, struct err *e)
{
	s->tasks_max = s->config.channels * SRPI_TASKS_MAX;
	s->tasks = calloc(s->tasks_max, sizeof *s->tasks); // pages are used as tasks are
	return s->tasks ? 0 : err_set(e, -ENOMEM, "session: out of memory for commands");
}

void srps_commands_free(struct srps_session *s)
{
	free(s->tasks);
}

static struct srps_task *task_get(struct srps_session *s)
{
	struct srps_task *t = s->free_task;
	if (t)
		s->free_task = t->next_free;
	else
		t = &s->tasks[s->tasks_used++];
	return t;
}

static void task_put(struct srps_session *s, struct srps_task *t)
{
	if (s->aborting == t)
		s->aborting = NULL;
	t->next_free = s->free_task;
	s->free_task = t;
}

// --- sending ---

static unsigned room(const struct srps_channel *c)
{
	unsigned n = srpi_room(c->ch);
	return n && srps_ping_needs_room(c) ? n - 1 : n;
}

unsigned srps_room(struct scsi_session *scsi)
{
	struct srps_session *s = srps_of(scsi);
	unsigned n = 0;
	if (s->state != SRPS_UP || s->is_draining || srps_tmf_holds(s))
		return 0;
	for (unsigned i = 0; i < s->channel_count; i++)
		n += room(&s->channels[i]);
	return n;
}

// The next channel that has room; one has.
static struct srps_channel *channel(struct srps_session *s)
{
	do
		s->next = s->next + 1 < s->channel_count ? s->next + 1 : 0;
	while (!room(&s->channels[s->next]));
	return &s->channels[s->next];
}

static uint8_t attr_of(const struct scsi_cmd *c)
{
	static const uint8_t attrs[] = {
		[SCSI_ATTR_UNTAGGED] = SRP_ATTR_SIMPLE,
		[SCSI_ATTR_SIMPLE] = SRP_ATTR_SIMPLE,
		[SCSI_ATTR_ORDERED] = SRP_ATTR_ORDERED,
		[SCSI_ATTR_HEAD_OF_QUEUE] = SRP_ATTR_HEAD_OF_QUEUE,
		[SCSI_ATTR_ACA] = SRP_ATTR_ACA,
	};
	return c->attr < sizeof attrs ? attrs[c->attr] : SRP_ATTR_SIMPLE;
}

void srps_send(struct scsi_session *scsi, struct scsi_cmd *c)
{
	struct srps_session *s = srps_of(scsi);
	struct srps_task *t = task_get(s);
	t->cmd = c;
	t->on = channel(s);
	memcpy(t->srp.lun, c->lun, sizeof t->srp.lun);
	memcpy(t->srp.cdb, c->cdb, sizeof t->srp.cdb);
	t->srp.attr = attr_of(c);
	t->srp.is_read = c->is_read;
	t->srp.is_write = c->is_write;
	t->srp.sg = c->sg;
	t->srp.nsg = c->nsg;
	t->srp.len = c->len;
	c->sent = t;
	srpi_send(t->on->ch, &t->srp);
}

// --- the end of a command ---

static void take_refusal(struct scsi_cmd *c, uint8_t code)
{
	const char *text = srp_code_text(code);
	snprintf(c->refusal, sizeof c->refusal, "RSP_CODE 0x%02x: %s", code,
		 text ? text : "unknown");
}

static void take_result(struct scsi_cmd *c, const struct srpi_task *t)
{
	c->status = t->status;
	c->is_under = t->is_under;
	c->is_over = t->is_over;
	c->residual = t->residual;
	c->data_len = t->data_len;
	c->sense_len = t->sense_len;
	memcpy(c->sense, t->sense, t->sense_len);
}

// The channel is closing: send nothing more.
static void take_loss(struct srps_session *s, int res)
{
	if (res == -EPIPE && !s->is_dropping)
		s->is_draining = true;
}

void srps_done(struct srpi_channel *ch, struct srpi_task *srp, int res)
{
	struct srps_channel *on = srpi_role(ch);
	struct srps_session *s = on->s;
	if (srps_ping_done(on, srp)) {
		take_loss(s, res);
		scsi_session_pump_later(&s->scsi); // with its credit
		return;
	}
	struct srps_task *t = container_of(srp, struct srps_task, srp);
	struct scsi_cmd *c = t->cmd;
	take_result(c, srp);
	if (res == -EREMOTEIO)
		take_refusal(c, srp->code);
	c->sent = NULL;
	task_put(s, t);
	take_loss(s, res);
	scsi_cmd_ended(c, res);
}
