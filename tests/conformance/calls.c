// SPDX-License-Identifier: BSD-2-Clause
// Preloaded into programs of libiscsi (libiscsi.c): commands and task management.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libiscsi.h"

// --- commands ---

static struct call *call_new(struct context *c, iscsi_command_cb done, void *arg)
{
	struct call *call = calloc(1, sizeof *call);
	if (call) {
		call->done = done;
		call->arg = arg;
		list_push_back(&c->queued, &call->link);
	}
	return call;
}

void call_end(struct context *c, struct call *call)
{
	free(call->memory);
	call->memory = NULL;
	list_remove(&call->link);
	list_push_back(&c->ended, &call->link);
	c->requests -= call->way.is_tmf;
	while (!c->requests && !list_empty(&c->ended)) {
		struct list *l = list_pop_front(&c->ended);
		free(list_entry(l, struct call, link));
	}
}

static void gather(const struct scsi_iovector *from, uint8_t *to, size_t len)
{
	for (int i = 0; i < from->niov && len; i++) {
		size_t n = from->iov[i].iov_len < len ? from->iov[i].iov_len : len;
		memcpy(to, from->iov[i].iov_base, n);
		to += n;
		len -= n;
	}
}

static void scatter(const struct scsi_iovector *to, const uint8_t *from, size_t len)
{
	for (int i = 0; i < to->niov && len; i++) {
		size_t n = to->iov[i].iov_len < len ? to->iov[i].iov_len : len;
		memcpy(to->iov[i].iov_base, from, n);
		from += n;
		len -= n;
	}
}

// As libiscsi does it: data that stands beside the task becomes its vector.
static int take_data(struct scsi_task *task, struct iscsi_data *data)
{
	struct scsi_iovec *iov;
	if (!data || !data->data)
		return 0;
	iov = scsi_malloc(task, sizeof *iov);
	if (!iov)
		return -1;
	iov->iov_base = data->data;
	iov->iov_len = data->size;
	scsi_task_set_iov_out(task, iov, 1);
	return 0;
}

// The program's tests may change the CDB in its PDU, by the table of libiscsi.c. The PDU is a
// stranger's structure: each of its words is the pointer to the header, so that one is.
static void queue_cdb(struct context *c, const struct scsi_task *task, uint8_t *ret_cdb)
{
	uint8_t header[64] = { 0x01 }; // SCSI Command
	uint8_t *pdu[64];
	for (size_t i = 0; i < sizeof pdu / sizeof *pdu; i++)
		pdu[i] = header;
	memcpy(header + 32, task->cdb, SCSI_CDB_LEN);
	REAL(iscsi_queue_pdu)(c->of, (struct iscsi_pdu *)pdu);
	memcpy(ret_cdb, header + 32, SCSI_CDB_LEN);
}

static void fill(struct context *c, struct call *call, int lun, size_t len)
{
	struct scsi_task *task = call->task;
	struct scsi_cmd *cmd = &call->way.cmd;
	scsi_cmd_init(cmd, (uint16_t)lun);
	queue_cdb(c, task, cmd->cdb);
	cmd->attr = SCSI_ATTR_SIMPLE;
	cmd->is_once = true;
	cmd->timeout = c->timeout;
	if (task->xfer_dir == SCSI_XFER_WRITE)
		gather(&task->iovector_out, call->memory, len);
	if (task->xfer_dir != SCSI_XFER_NONE)
		scsi_cmd_data(cmd, call->memory, (uint32_t)len, task->xfer_dir == SCSI_XFER_WRITE);
}

EXPORTED int iscsi_scsi_command_async(struct iscsi_context *iscsi, int lun, struct scsi_task *task,
				      iscsi_command_cb done, struct iscsi_data *data, void *arg)
{
	struct context *c = context_ours(iscsi);
	size_t len = task->expxferlen > 0 ? (size_t)task->expxferlen : 0;
	if (!c)
		return REAL(iscsi_scsi_command_async)(iscsi, lun, task, done, data, arg);
	if (c->has_ended || take_data(task, data) < 0)
		return -1;
	struct call *call = call_new(c, done, arg);
	if (!call)
		return -1;
	call->task = task;
	call->memory = calloc(1, len ? len : 1);
	if (!call->memory)
		abort();
	task->itt = task->cmdsn = ++c->tags;
	task->lun = (uint32_t)lun;
	fill(c, call, lun, len);
	return 0;
}

// --- what a command has had ---

static void take_sense(struct context *c, struct call *call)
{
	const struct scsi_cmd *cmd = &call->way.cmd;
	struct scsi_task *task = call->task;
	uint8_t *data = calloc(1, SCSI_SENSE_MAX + 2); // with its length in front, as in iSCSI
	if (!data)
		abort();
	data[1] = (uint8_t)cmd->sense_len;
	memcpy(data + 2, cmd->sense, cmd->sense_len);
	scsi_parse_sense_data(&task->sense, data + 2);
	task->datain.data = data;
	task->datain.size = cmd->sense_len + 2;
	snprintf(c->error, sizeof c->error, "SENSE KEY:%s(%d) ASCQ:%s(0x%04x)",
		 scsi_sense_key_str((int)task->sense.key), task->sense.key,
		 scsi_sense_ascq_str(task->sense.ascq), task->sense.ascq);
}

static void take_data_in(struct call *call)
{
	const struct scsi_cmd *cmd = &call->way.cmd;
	struct scsi_task *task = call->task;
	if (!cmd->is_read || !cmd->data_len)
		return;
	if (task->iovector_in.iov) {
		scatter(&task->iovector_in, call->memory, cmd->data_len);
		return;
	}
	task->datain.data = call->memory; // freed with the task
	task->datain.size = (int)cmd->data_len;
	call->memory = NULL;
}

static int take_result(struct context *c, struct call *call)
{
	const struct scsi_cmd *cmd = &call->way.cmd;
	struct scsi_task *task = call->task;
	if (cmd->res) {
		snprintf(c->error, sizeof c->error, "no response: %s", strerror(-cmd->res));
		return cmd->res == -ETIMEDOUT ? SCSI_STATUS_TIMEOUT : SCSI_STATUS_ERROR;
	}
	task->residual_status = cmd->is_under  ? SCSI_RESIDUAL_UNDERFLOW
				: cmd->is_over ? SCSI_RESIDUAL_OVERFLOW
					       : SCSI_RESIDUAL_NO_RESIDUAL;
	task->residual = cmd->is_under || cmd->is_over ? cmd->residual : 0;
	snprintf(c->error, sizeof c->error, "SCSI status 0x%02x", cmd->status);
	if (cmd->status == SCSI_STATUS_CHECK_CONDITION)
		take_sense(c, call);
	else
		take_data_in(call);
	return cmd->status;
}

// An aborted command has no status, and the program may have freed its task.
static void command_over(struct context *c, struct call *call)
{
	if (call->way.cmd.res != -ECANCELED) {
		call->task->status = take_result(c, call);
		call->done(c->of, call->task->status, call->task, call->arg);
	}
	call_end(c, call);
}

// --- task management ---

static const struct {
	enum scsi_tmf_function iser, srp;
} functions[] = {
	[ISCSI_TM_ABORT_TASK] = {SCSI_TMF_ABORT_TASK,	       SCSI_TMF_ABORT_TASK	   },
	[ISCSI_TM_ABORT_TASK_SET] = { SCSI_TMF_ABORT_TASK_SET,    SCSI_TMF_ABORT_TASK_SET},
	[ISCSI_TM_CLEAR_TASK_SET] = { SCSI_TMF_CLEAR_TASK_SET,    SCSI_TMF_CLEAR_TASK_SET},
	[ISCSI_TM_LUN_RESET] = { SCSI_TMF_LUN_RESET,	     SCSI_TMF_LUN_RESET	},
	[ISCSI_TM_TARGET_WARM_RESET] = { SCSI_TMF_TARGET_WARM_RESET, SCSI_TMF_LUN_RESET	},
	[ISCSI_TM_TARGET_COLD_RESET] = { SCSI_TMF_TARGET_COLD_RESET, SCSI_TMF_LUN_RESET	},
};

static struct call *find(struct list *in, uint32_t itt)
{
	list_for_each (it, in) {
		struct call *call = list_entry(it, struct call, link);
		if (!call->way.is_tmf && call->task->itt == itt)
			return call;
	}
	return NULL;
}

EXPORTED int iscsi_task_mgmt_async(struct iscsi_context *iscsi, int lun,
				   enum iscsi_task_mgmt_funcs function, uint32_t itt,
				   uint32_t cmdsn, iscsi_command_cb done, void *arg)
{
	struct context *c = context_ours(iscsi);
	struct scsi_cmd at;
	if (!c)
		return REAL(iscsi_task_mgmt_async)(iscsi, lun, function, itt, cmdsn, done, arg);
	struct call *call = c->has_ended ? NULL : call_new(c, done, arg);
	if (!call)
		return -1;
	struct call *aborted = function == ISCSI_TM_ABORT_TASK ? find(&c->sent, itt) : NULL;
	bool is_srp = cs_is_srp(&c->address);
	call->function = function;
	call->way.is_tmf = true;
	call->way.tmf.function = is_srp ? functions[function].srp : functions[function].iser;
	call->way.tmf.cmd = aborted ? &aborted->way.cmd : NULL;
	scsi_cmd_init(&at, (uint16_t)(is_srp ? c->lun : lun));
	memcpy(call->way.tmf.lun, at.lun, sizeof at.lun);
	c->requests++;
	return 0;
}

static const uint32_t responses[] = {
	[SCSI_TMF_COMPLETE] = ISCSI_TMR_FUNC_COMPLETE,
	[SCSI_TMF_NO_TASK] = ISCSI_TMR_TASK_DOES_NOT_EXIST,
	[SCSI_TMF_NO_LUN] = ISCSI_TMR_LUN_DOES_NOT_EXIST,
	[SCSI_TMF_UNSUPPORTED] = ISCSI_TMR_TMF_NOT_SUPPORTED,
	[SCSI_TMF_REJECTED] = ISCSI_TMR_FUNC_REJECTED,
};

static void request_over(struct context *c, struct call *call)
{
	const struct scsi_tmf *t = &call->way.tmf;
	uint32_t response = responses[t->response];
	int status = SCSI_STATUS_GOOD;
	if (t->res == -ESRCH || t->res == -EINVAL) // the command had ended before
		response = ISCSI_TMR_TASK_DOES_NOT_EXIST;
	else if (t->res)
		status = SCSI_STATUS_ERROR;
	call->done(c->of, status, &response, call->arg);
	c->has_reset |= call->function == ISCSI_TM_TARGET_COLD_RESET;
	call_end(c, call);
}

// --- either ---

void call_over(struct context *c, struct call *call)
{
	if (call->way.is_tmf)
		request_over(c, call);
	else
		command_over(c, call);
}
