// SPDX-License-Identifier: BSD-2-Clause
// SCSI commands between the mover and the device server: command window, tags, task, result.
// RFC 7143 4.2.2.1, 11.2.1.8, 11.3, 11.4, 11.17.
#include "target/iscsi/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/iscsi/nop.h"
#include "target/iscsi/window.h"
#include "target/iscsi/worker.h"
#include "target/scsi/io_log.h"
#include "target/scsi/lun_map.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/server/device_server.h"
#include "transport/wire/be.h"

#define FREE_KEEP 1024

static const struct task_ops task_ops;

static struct cmd *cmd_get(struct conn *c)
{
	struct cmd_pool *p = c->cmd_pool;
	struct list *l = list_pop_front(&p->free);
	struct cmd *cmd =
		l ? list_entry(l, struct cmd, link) : calloc(1, sizeof *cmd + p->task_size);
	if (!cmd)
		return NULL;
	if (l)
		p->count--;
	cmd->conn = c;
	cmd->is_counted = cmd->is_submitted = cmd->is_held = cmd->is_ending = false;
	cmd->is_dropped = false;
	cmd->long_cdb = NULL;
	cmd->abort_wait = NULL;
	list_push_back(&c->cmds, &cmd->link);
	c->cmd_count++;
	return cmd;
}

static void cmd_put(struct cmd *cmd)
{
	struct cmd_pool *p = cmd->conn->cmd_pool;
	list_remove(&cmd->link);
	cmd->conn->cmd_count--;
	free(cmd->long_cdb);
	if (p->count >= FREE_KEEP) {
		free(cmd);
		return;
	}
	list_push_front(&p->free, &cmd->link);
	p->count++;
}

void cmd_pool_trim(struct iscsi_worker *iw)
{
	for (unsigned i = 0; i < CMD_POOLS; i++) {
		for (struct list *l; (l = list_pop_front(&iw->cmds[i].free));)
			free(list_entry(l, struct cmd, link));
		iw->cmds[i].count = 0;
	}
}

// --- tags ---

// Initiators number their tasks in the low or the high byte of the tag.
static struct cmd **tag_bucket(struct conn *c, uint32_t itt)
{
	return &c->tags[(itt ^ itt >> 24 ^ itt >> 8) % CONN_TAGS];
}

static void tag_enter(struct cmd *cmd)
{
	struct cmd **b = tag_bucket(cmd->conn, cmd->dm.itt);
	cmd->tag_next = *b;
	*b = cmd;
}

static void tag_leave(struct cmd *cmd)
{
	struct cmd **b = tag_bucket(cmd->conn, cmd->dm.itt);
	while (*b != cmd)
		b = &(*b)->tag_next;
	*b = cmd->tag_next;
}

struct cmd *cmd_find(struct conn *c, uint32_t itt_wire)
{
	struct cmd *cmd = *tag_bucket(c, itt_wire);
	while (cmd && cmd->dm.itt != itt_wire)
		cmd = cmd->tag_next;
	return cmd;
}

// Whether the tag belongs to a command whose status the initiator does not have. Once the status is
// being sent, the tag may be reused before we know that it was sent.
static bool tag_is_taken(struct conn *c, uint32_t itt_wire)
{
	for (const struct cmd *cmd = *tag_bucket(c, itt_wire); cmd; cmd = cmd->tag_next)
		if (cmd->dm.itt == itt_wire &&
		    (!cmd->is_submitted || cmd->task.state != TASK_DONE || cmd->dm.is_finished))
			return true;
	return false;
}

static struct cmd *dm_cmd(struct dm_task *t)
{
	return container_of(t, struct cmd, dm);
}

// A command has ended: the window opens by one.
static void window_open(struct cmd *cmd)
{
	struct conn *c = cmd->conn;
	if (!cmd->is_counted)
		return;
	cmd->is_counted = false;
	c->inflight--;
	c->sns.max_cmd_sn++;
}

// --- from the mover ---

static const uint8_t task_attrs[8] = {
	[ISCSI_ATTR_UNTAGGED] = TASK_SIMPLE, [ISCSI_ATTR_SIMPLE] = TASK_SIMPLE,
	[ISCSI_ATTR_ORDERED] = TASK_ORDERED, [ISCSI_ATTR_HEAD_OF_QUEUE] = TASK_HEAD_OF_QUEUE,
	[ISCSI_ATTR_ACA] = TASK_ACA,
};

static int cmd_take_cdb(struct cmd *cmd, const struct iscsi_scsi_cmd *h,
			const struct iscsi_ahs_info *info)
{
	memcpy(cmd->cdb, h->cdb, ISCSI_CDB_LEN);
	cmd->task.cdb = cmd->cdb;
	cmd->task.cdb_len = ISCSI_CDB_LEN;
	if (!info->cdb_ext_len)
		return 0;
	cmd->long_cdb = malloc(ISCSI_CDB_LEN + info->cdb_ext_len);
	if (!cmd->long_cdb)
		return -ENOMEM;
	memcpy(cmd->long_cdb, h->cdb, ISCSI_CDB_LEN);
	memcpy(cmd->long_cdb + ISCSI_CDB_LEN, info->cdb_ext, info->cdb_ext_len);
	cmd->task.cdb = cmd->long_cdb;
	cmd->task.cdb_len = (uint16_t)(ISCSI_CDB_LEN + info->cdb_ext_len);
	return 0;
}

// Fills the task from the header. 0 or -ENOMEM.
static int cmd_fill(struct cmd *cmd, const uint8_t *bhs, const struct iscsi_ahs_info *info)
{
	const struct iscsi_scsi_cmd *h = (const void *)bhs;
	struct task *t = &cmd->task;
	uint32_t edtl = get_be32(h->edtl), bidi = info->has_bidi_read ? info->bidi_read_len : 0;
	dm_task_init(&cmd->dm, bhs);
	cmd->cmd_sn = get_be32(h->cmd_sn);
	task_init(t, &task_ops, cmd->conn->session.nexus);
	int r = cmd_take_cdb(cmd, h, info);
	t->lun = lun_decode(h->lun);
	t->attr = task_attrs[h->flags & ISCSI_CMD_ATTR_MASK];
	t->expected_out = h->flags & ISCSI_CMD_W ? edtl : 0;
	t->expected_in = !(h->flags & ISCSI_CMD_R) ? 0 : h->flags & ISCSI_CMD_W ? bidi : edtl;
	return r;
}

void cmd_submit(struct cmd *cmd)
{
	cmd->is_submitted = true;
	task_submit(&cmd->task);
}

static struct cmd *cmd_new(struct conn *c, const uint8_t *bhs, const struct iscsi_ahs_info *info)
{
	struct cmd *cmd = cmd_get(c);
	if (cmd && cmd_fill(cmd, bhs, info) < 0) {
		cmd_put(cmd);
		return NULL;
	}
	if (cmd)
		tag_enter(cmd);
	return cmd;
}

static void cmd_drop(struct cmd *cmd)
{
	tag_leave(cmd);
	cmd_put(cmd);
}

// 0, or the reason for rejecting the command.
static int cmd_check(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *ahs,
		     struct iscsi_ahs_info *ret)
{
	// Immediate commands are outside the window, but a flood of them is limited too.
	if (pdu->is_immediate && c->cmd_count >= 2 * c->window + 16)
		return ISCSI_REJECT_TOO_MANY_IMMEDIATE;
	return iscsi_ahs_parse(ahs, pdu->ahs_len, ret, NULL);
}

struct dm_task *cmd_arrived(struct dm *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
			    const uint8_t *ahs)
{
	struct conn *c = dm->role;
	if (c->session.state != SESSION_LIVE || !c->session.nexus || c->when_idle)
		return NULL;
	// Before its CmdSN is processed: a rejected command counts as not received.
	struct iscsi_ahs_info info;
	int reason = cmd_check(c, pdu, ahs, &info);
	if (reason) {
		conn_reject(c, (uint8_t)reason, bhs);
		return NULL;
	}
	const struct iscsi_scsi_cmd *h = (const void *)bhs;
	uint32_t itt;
	memcpy(&itt, h->itt, sizeof itt);
	bool is_taken = tag_is_taken(c, itt);
	enum window_order order = is_taken ? window_look(c, bhs, pdu->is_immediate)
					   : window_order(c, bhs, pdu->is_immediate);
	if (order == WINDOW_DROP) // probably a retry of a command that we have
		return NULL;
	if (is_taken) {
		conn_reject(c, ISCSI_REJECT_TASK_IN_PROGRESS, bhs);
		return NULL;
	}
	struct cmd *cmd = cmd_new(c, bhs, &info);
	if (cmd && order == WINDOW_HOLD && window_hold(c, pdu, bhs, NULL, cmd) < 0) {
		cmd_drop(cmd);
		cmd = NULL;
	}
	if (!cmd) {
		conn_close(c, false, "out of memory for a command");
		return NULL;
	}
	cmd->is_held = order == WINDOW_HOLD;
	c->session.commands++;
	window_widen(c);
	cmd->is_counted = !pdu->is_immediate;
	c->inflight += cmd->is_counted;
	return &cmd->dm;
}

void cmd_begin(struct dm *dm, struct dm_task *t)
{
	struct conn *c = dm->role;
	struct cmd *cmd = dm_cmd(t);
	if (cmd->is_held)
		return;
	cmd_submit(cmd);
	if (c->held_count)
		window_run_held(c);
}

// With many logical units in use their state is not in the cache. It is prefetched in two steps,
// one command ahead each: the nexus's part, then the data that it points to.
void cmd_ahead(struct dm *dm, const uint8_t *bhs)
{
	struct conn *c = dm->role;
	struct nexus_lun *nl = c->ahead;
	c->ahead = NULL;
	if (!bhs || !c->session.nexus)
		return;
	if (nl) {
		__builtin_prefetch(nl->lu);
		__builtin_prefetch((const uint8_t *)nl->lu + 64);
		__builtin_prefetch(nl->channel, 1);
		__builtin_prefetch((const uint8_t *)nl->channel + 64, 1);
	}
	const struct iscsi_scsi_cmd *h = (const void *)bhs;
	c->ahead = nexus_find_lun(c->session.nexus, lun_decode(h->lun));
	if (c->ahead)
		__builtin_prefetch(c->ahead, 1);
}

void cmd_data(struct dm *dm, struct dm_task *t, int res)
{
	task_data_ready(&dm_cmd(t)->task, res);
}

void cmd_part(struct dm *dm, struct dm_task *t, int res)
{
	task_part_sent(&dm_cmd(t)->task, res);
}

// The kernel has no page for the disk's own memory.
static void note_unreadable(const struct cmd *cmd)
{
	const struct task *t = &cmd->task;
	if (t->lu)
		io_log_result(t->lu, BS_READ, t->lba << t->lu->block_shift,
			      t->blocks << t->lu->block_shift, -EFAULT);
}

void cmd_released(struct dm *dm, struct dm_task *t)
{
	struct cmd *cmd = dm_cmd(t);
	if (__builtin_expect(t->is_unreadable, 0))
		note_unreadable(cmd);
	struct conn *c = cmd->conn;
	bool was_aborted = cmd->task.is_aborted || !cmd->is_submitted || cmd->is_dropped;
	bool was_closed = cmd->is_counted && c->inflight >= c->window;
	window_open(cmd);
	if (cmd->is_submitted)
		task_release(&cmd->task);
	if (cmd->abort_wait)
		cmd->abort_wait->done(cmd->abort_wait, was_aborted);
	cmd_drop(cmd);
	// An aborted command has no response that could announce its place in the window.
	if (was_closed && c->session.state == SESSION_LIVE)
		nop_window(c);
	if (c->session.state == SESSION_ENDING)
		conn_check_end(c);
	else if (c->when_idle && list_empty(&c->cmds))
		c->when_idle(c);
}

// --- from the device server ---

static void on_get_data(struct task *t)
{
	struct cmd *cmd = container_of(t, struct cmd, task);
	struct dm *dm = cmd->conn->dm;
	dm->ops->get_data(dm, &cmd->dm, t->sg, t->nsg, t->fetch_len);
}

static void on_put_part(struct task *t)
{
	struct cmd *cmd = container_of(t, struct cmd, task);
	struct dm *dm = cmd->conn->dm;
	dm->ops->put_part(dm, &cmd->dm, t->sg, t->nsg, t->data_in);
}

// RFC 7143 11.4.5: relative to the expected length in the command's direction.
static void result_residual(const struct task *t, struct dm_result *r)
{
	uint64_t expected = t->expected_in ? t->expected_in : t->expected_out;
	r->residual_flags = 0;
	r->residual = 0;
	if (t->wanted > expected) {
		uint64_t over = t->wanted - expected;
		r->residual_flags = ISCSI_RSP_OVERFLOW;
		r->residual = over > UINT32_MAX ? UINT32_MAX : (uint32_t)over;
	} else if (t->wanted < expected) {
		r->residual_flags = ISCSI_RSP_UNDERFLOW;
		r->residual = (uint32_t)(expected - t->wanted);
	}
}

static void on_done(struct task *t)
{
	struct cmd *cmd = container_of(t, struct cmd, task);
	struct conn *c = cmd->conn;
	struct dm_result *r = &cmd->result;
	t->is_landing = t->is_aborted && cmd->dm.is_fetching;
	if (t->is_aborted && !t->sends_aborted) {
		c->dm->ops->put_data(c->dm, &cmd->dm, NULL);
		return;
	}
	r->sg = t->sg;
	r->nsg = t->nsg;
	r->data_len = t->data_in;
	r->status = t->status;
	r->response = ISCSI_RSP_COMPLETED;
	r->sense = t->sense;
	r->sense_len = t->sense_len;
	result_residual(t, r);
	c->session.read_bytes += t->data_in + (t->fetch_len ? 0 : t->moved);
	c->session.written_bytes += t->fetch_len + (t->fetch_len ? t->moved : 0);
	window_open(cmd);
	c->dm->ops->put_data(c->dm, &cmd->dm, r);
}

static const struct task_ops task_ops = {
	.get_data = on_get_data,
	.put_part = on_put_part,
	.done = on_done,
};

// --- early ends ---

void cmd_abort(struct cmd *cmd, bool with_status)
{
	struct conn *c = cmd->conn;
	if (cmd->is_held)
		window_unhold(c, cmd);
	if (cmd->is_submitted && cmd->task.state != TASK_DONE) {
		task_abort(&cmd->task, with_status);
		return;
	}
	// The mover holds the status of a command that failed early while its data is due, which
	// may never arrive.
	cmd->is_dropped = cmd->is_submitted && cmd->dm.is_finished;
	if (!cmd->is_submitted || cmd->is_dropped)
		c->dm->ops->put_data(c->dm, &cmd->dm, NULL);
}

static struct cmd *next_to_end(struct conn *c)
{
	list_for_each (it, &c->cmds) {
		struct cmd *cmd = list_entry(it, struct cmd, link);
		if (!cmd->is_ending)
			return cmd;
	}
	return NULL;
}

void cmd_end_all(struct conn *c)
{
	// A logout may have run earlier: handles the remaining commands again.
	list_for_each (it, &c->cmds)
		list_entry(it, struct cmd, link)->is_ending = false;
	// Ending one may end others that waited for their turn: start again each time.
	for (struct cmd *cmd; (cmd = next_to_end(c));) {
		cmd->is_ending = true;
		cmd_abort(cmd, false);
	}
}
