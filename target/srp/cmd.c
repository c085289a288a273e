// SPDX-License-Identifier: BSD-2-Clause
// SCSI commands between the channel and the device server: tags, task, result. T10 SRP 5, 6.8, 6.9.
#include "target/srp/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/scsi/lun_map.h"
#include "target/scsi/nexus.h"
#include "target/scsi/server/device_server.h"
#include "target/srp/residual.h"
#include "target/srp/worker.h"

#define FREE_KEEP   1024
#define CDB_LONGEST 260 // of task.h: no command is longer

static const struct task_ops task_ops;

static struct cmd *cmd_get(struct session_channel *c)
{
	struct srp_worker *sw = c->session->worker;
	struct list *l = list_pop_front(&sw->free_cmds);
	struct cmd *cmd = l ? list_entry(l, struct cmd, link) : calloc(1, sizeof *cmd);
	if (!cmd)
		return NULL;
	sw->free_count -= l != NULL;
	cmd->channel = c;
	cmd->is_submitted = cmd->is_put = cmd->is_ending = false;
	cmd->long_cdb = NULL;
	cmd->abort_wait = NULL;
	list_push_back(&c->cmds, &cmd->link);
	c->cmd_count++;
	return cmd;
}

static void cmd_put(struct cmd *cmd)
{
	struct srp_worker *sw = cmd->channel->session->worker;
	list_remove(&cmd->link);
	cmd->channel->cmd_count--;
	free(cmd->long_cdb);
	if (sw->free_count >= FREE_KEEP) {
		free(cmd);
		return;
	}
	list_push_front(&sw->free_cmds, &cmd->link);
	sw->free_count++;
}

void srp_cmd_pool_trim(struct srp_worker *sw)
{
	for (struct list *l; (l = list_pop_front(&sw->free_cmds));)
		free(list_entry(l, struct cmd, link));
	sw->free_count = 0;
}

// ---- tags ----

// Tags are opaque: Linux has a number in the low bytes and the queue in those above. The product's
// high bits depend on all bits of the tag.
static struct cmd **tag_bucket(struct srp_session *s, uint64_t tag)
{
	return &s->tags[(tag * 0x9e3779b97f4a7c15 >> 32) % SESSION_TAGS];
}

static void tag_enter(struct cmd *cmd)
{
	struct cmd **b = tag_bucket(cmd->channel->session, cmd->srp.tag);
	cmd->tag_next = *b;
	*b = cmd;
}

static void tag_leave(struct cmd *cmd)
{
	struct cmd **b = tag_bucket(cmd->channel->session, cmd->srp.tag);
	while (*b != cmd)
		b = &(*b)->tag_next;
	*b = cmd->tag_next;
}

struct cmd *srp_cmd_find(struct srp_session *s, uint64_t tag)
{
	struct cmd *cmd = *tag_bucket(s, tag);
	while (cmd && cmd->srp.tag != tag)
		cmd = cmd->tag_next;
	return cmd;
}

// Whether the tag belongs to a command without a response. Once the response is being sent, the tag
// may be reused before we know that it was sent.
static bool tag_is_taken(struct srp_session *s, uint64_t tag)
{
	for (const struct cmd *cmd = *tag_bucket(s, tag); cmd; cmd = cmd->tag_next)
		if (cmd->srp.tag == tag && !cmd->is_put)
			return true;
	return false;
}

static struct cmd *cmd_of(struct srp_task *t)
{
	return container_of(t, struct cmd, srp);
}

// ---- from the channel ----

static const uint8_t task_attrs[SRP_ATTR_MASK + 1] = {
	[SRP_ATTR_SIMPLE] = TASK_SIMPLE,
	[SRP_ATTR_HEAD_OF_QUEUE] = TASK_HEAD_OF_QUEUE,
	[SRP_ATTR_ORDERED] = TASK_ORDERED,
	[SRP_ATTR_ACA] = TASK_ACA,
};

static int take_cdb(struct cmd *cmd, const struct srp_command *c)
{
	uint16_t len = c->cdb_len < CDB_LONGEST ? c->cdb_len : CDB_LONGEST;
	uint8_t *to = cmd->cdb;
	if (len > sizeof cmd->cdb)
		to = cmd->long_cdb = malloc(len);
	if (!to)
		return -ENOMEM;
	memcpy(to, c->cdb, len);
	cmd->task.cdb = to;
	cmd->task.cdb_len = len;
	return 0;
}

// Fills the task. 0 or -ENOMEM.
static int cmd_fill(struct cmd *cmd, const struct srp_command *c)
{
	struct task *t = &cmd->task;
	task_init(t, &task_ops, cmd->channel->session->session.nexus);
	int r = take_cdb(cmd, c);
	memcpy(cmd->lun, c->lun, sizeof cmd->lun);
	t->lun = lun_decode(c->lun);
	t->attr = task_attrs[c->attr & SRP_ATTR_MASK];
	t->expected_out = c->out.len;
	t->expected_in = c->in.len;
	cmd->srp.tag = c->tag;
	return r;
}

static struct cmd *cmd_new(struct session_channel *c, const struct srp_command *what)
{
	struct cmd *cmd = cmd_get(c);
	if (cmd && cmd_fill(cmd, what) < 0) {
		cmd_put(cmd);
		return NULL;
	}
	if (cmd)
		tag_enter(cmd);
	return cmd;
}

struct srp_task *srp_cmd_arrived(struct srp_channel *ch, const struct srp_command *what)
{
	struct session_channel *c = srp_channel_role(ch);
	struct srp_session *s = c->session;
	s->has_heard = true;
	if (s->is_closing || c->is_closed)
		return NULL;
	if (tag_is_taken(s, what->tag)) {
		channel_close(c, true, SRP_LOGOUT_INVALID_IU,
			      "a command has the tag of one that is under way");
		return NULL;
	}
	struct cmd *cmd = cmd_new(c, what);
	if (!cmd) {
		channel_close(c, false, SRP_LOGOUT_NO_REASON, "out of memory for a command");
		return NULL;
	}
	s->session.commands++;
	return &cmd->srp;
}

void srp_cmd_begin(struct srp_channel *ch, struct srp_task *t)
{
	struct cmd *cmd = cmd_of(t);
	cmd->is_submitted = true;
	task_submit(&cmd->task);
}

void srp_cmd_data(struct srp_channel *ch, struct srp_task *t, int res)
{
	task_data_ready(&cmd_of(t)->task, res);
}

void srp_cmd_part(struct srp_channel *ch, struct srp_task *t, int res)
{
	task_part_sent(&cmd_of(t)->task, res);
}

void srp_cmd_released(struct srp_channel *ch, struct srp_task *t)
{
	struct cmd *cmd = cmd_of(t);
	struct session_channel *c = cmd->channel;
	struct abort_wait *w = cmd->abort_wait;
	if (cmd->is_submitted)
		task_release(&cmd->task);
	tag_leave(cmd);
	cmd_put(cmd);
	if (w)
		w->done(w);
	channel_check_end(c);
}

// ---- from the device server ----

static void on_get_data(struct task *t)
{
	struct cmd *cmd = container_of(t, struct cmd, task);
	srp_get_data(&cmd->srp, t->sg, t->nsg, t->fetch_len);
}

static void on_put_part(struct task *t)
{
	struct cmd *cmd = container_of(t, struct cmd, task);
	srp_put_part(&cmd->srp, t->sg, t->nsg, t->data_in);
}

static void put(struct cmd *cmd, const struct srp_result *r)
{
	cmd->is_put = true;
	srp_put_data(&cmd->srp, r); // cmd may be gone
}

static void on_done(struct task *t)
{
	struct cmd *cmd = container_of(t, struct cmd, task);
	struct session *s = &cmd->channel->session->session;
	struct srp_result *r = &cmd->result;
	t->is_landing = t->is_aborted && cmd->srp.is_fetching;
	if (t->is_aborted && !t->sends_aborted) {
		put(cmd, NULL);
		return;
	}
	r->sg = t->sg;
	r->nsg = t->nsg;
	r->data_len = t->data_in;
	r->status = t->status;
	r->sense = t->sense;
	r->sense_len = t->sense_len;
	residual_set(r, t, task_takes_data(t));
	s->read_bytes += t->data_in + (t->fetch_len ? 0 : t->moved);
	s->written_bytes += t->fetch_len + (t->fetch_len ? t->moved : 0);
	put(cmd, r);
}

static const struct task_ops task_ops = {
	.get_data = on_get_data,
	.put_part = on_put_part,
	.done = on_done,
};

// ---- early ends ----

void srp_cmd_abort(struct cmd *cmd)
{
	if (cmd->is_submitted && cmd->task.state != TASK_DONE)
		task_abort(&cmd->task, false);
	else if (!cmd->is_put)
		put(cmd, NULL);
}

static struct cmd *next_to_end(struct session_channel *c)
{
	list_for_each (it, &c->cmds) {
		struct cmd *cmd = list_entry(it, struct cmd, link);
		if (!cmd->is_ending)
			return cmd;
	}
	return NULL;
}

void srp_cmd_end_all(struct session_channel *c)
{
	// Ending one may end others that waited for their turn: start again each time.
	for (struct cmd *cmd; (cmd = next_to_end(c));) {
		cmd->is_ending = true;
		srp_cmd_abort(cmd);
	}
}
