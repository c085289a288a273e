// SPDX-License-Identifier: BSD-2-Clause
// The initiator's iSER mover in a test: on a control worker, over a fake provider, with a scripted
// target behind it.
#pragma once

#include "transport/iser/fake_device.h"

#include "transport/iser/dm_iser_initiator.h"
#include "transport/iser/iser.h"

enum { TASKS = 160 };

struct rig {
	struct worker *w;
	struct fake_rnic f;
	struct dmi *dm;
	struct iscsi_params params;
	struct dmi_task tasks[TASKS];
	int task_count;
	int res[TASKS], done_count, controls, windows;
	bool is_closed, ends_when_done, stays_in_login;
	struct err why;
	struct msg start;
	uint32_t last_data_len; // of a control PDU
	bool has_nul;
	struct dmi_sns sns; // at the end
	unsigned tasks_max;

	void (*script)(struct rig *r, const uint8_t *hdr, const uint8_t *bhs, const uint8_t *data,
		       uint32_t len);
	uint32_t pdus, stat_sn, max_cmd_sn;
};

static inline void rig_end(struct rig *r)
{
	struct err e;
	err_set(&e, -ESHUTDOWN, "end of test");
	r->dm->ops->close(r->dm, &e);
}

// --- what the target says ---

static inline void say_raw(struct rig *r, const void *bytes, uint32_t len, const uint32_t *rkey)
{
	rdma_say_raw(r->f.qps[0], bytes, len, rkey);
}

static inline void say_inv(struct rig *r, const uint8_t *bhs, const void *data, uint32_t len,
			   const uint32_t *rkey)
{
	rdma_say(r->f.qps[0], bhs, data, len, rkey);
}

static inline void say(struct rig *r, const uint8_t *bhs, const void *data, uint32_t len)
{
	say_inv(r, bhs, data, len, NULL);
}

static inline void answer_head(struct rig *r, uint8_t *bhs, uint8_t opcode, uint8_t flags,
			       const uint8_t *cmd)
{
	memset(bhs, 0, 48);
	bhs[0] = opcode;
	bhs[1] = flags;
	memcpy(bhs + 16, cmd + 16, 4);
	put_be32(bhs + 24, r->stat_sn);
	put_be32(bhs + 28, 2);
	put_be32(bhs + 32, r->max_cmd_sn);
}

static inline void response_inv(struct rig *r, const uint8_t *cmd, uint8_t flags, uint8_t status,
				uint32_t residual, const void *sense, uint32_t len,
				const uint32_t *rkey)
{
	uint8_t bhs[48];
	answer_head(r, bhs, ISCSI_OP_SCSI_RSP, ISCSI_F | flags, cmd);
	bhs[3] = status;
	put_be32(bhs + 44, residual);
	r->stat_sn++;
	say_inv(r, bhs, sense, len, rkey);
}

static inline void response(struct rig *r, const uint8_t *cmd, uint8_t flags, uint8_t status,
			    uint32_t residual, const void *sense, uint32_t len)
{
	response_inv(r, cmd, flags, status, residual, sense, len, NULL);
}

// --- the role ---

static inline void up_done(struct dmi *dm, struct dmi_task *t, int res)
{
	struct rig *r = dm->role;
	r->res[t - r->tasks] = res;
	if (++r->done_count == r->task_count && r->ends_when_done && res != -EPIPE)
		rig_end(r);
}

static inline int up_control(struct dmi *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
			     const uint8_t *data, struct err *e)
{
	struct rig *r = dm->role;
	r->controls++;
	r->last_data_len = pdu->data_len;
	r->has_nul = data && !data[pdu->data_len];
	return 0;
}

static inline void up_window(struct dmi *dm)
{
	((struct rig *)dm->role)->windows++;
}

static inline void up_closed(struct dmi *dm, const struct err *e)
{
	struct rig *r = dm->role;
	assert_false(r->is_closed);
	r->is_closed = true;
	r->why = *e;
	r->sns = dm->sns;
	r->tasks_max = dm->tasks_max;
	dm->ops->free(dm);
}

static const struct dmi_up up = {
	.done = up_done, .control = up_control, .window = up_window, .closed = up_closed
};

static inline void rig_connected(struct dmi *dm)
{
	struct rig *r = dm->role;
	dm->sns = (struct dmi_sns){
		.cmd_sn = 1, .exp_cmd_sn = 1, .max_cmd_sn = 64, .exp_stat_sn = 1
	};
	if (!r->stays_in_login)
		dm->ops->full_feature(dm, &r->params);
	for (int i = 0; i < r->task_count; i++)
		dm->ops->command(dm, &r->tasks[i]);
	if (!r->task_count)
		r->script(r, NULL, NULL, NULL, 0);
}

static inline void rig_message(struct fake_qp *q, const uint8_t *hdr, const uint8_t *bhs,
			       const uint8_t *data, uint32_t len)
{
	struct rig *r = q->f->arg;
	r->pdus++;
	r->script(r, hdr, bhs, data, len);
}

static inline void rig_freed(struct fake_qp *q)
{
	worker_stop(((struct rig *)q->f->arg)->w);
}

static inline void rig_init(struct rig *r)
{
	memset(r, 0, sizeof *r);
	r->w = make_worker(true, 0);
	fake_rnic_init(&r->f, r->w);
	r->f.arg = r;
	r->f.message = rig_message;
	r->f.freed = rig_freed;
	iscsi_params_init(&r->params);
	r->params.max_recv_data = r->params.max_send_data = 8192;
	r->params.first_burst = 65536;
	r->params.max_burst = 262144;
	r->params.initial_r2t = true;
	r->params.immediate_data = true;
	r->params.rdma_extensions = true;
	r->stat_sn = 1;
	r->max_cmd_sn = 65;
	r->ends_when_done = true;
}

static inline struct dmi_task *add(struct rig *r, struct sg *sg, uint32_t nsg, uint32_t len,
				   bool is_write)
{
	struct dmi_task *t = &r->tasks[r->task_count++];
	t->sg = sg;
	t->nsg = nsg;
	t->len = len;
	t->is_write = is_write;
	t->is_read = !is_write;
	return t;
}

static inline void rig_go(struct msg *m)
{
	struct rig *r = container_of(m, struct rig, start);
	struct dm_iseri_options o = { .provider = &r->f.provider, .connected = rig_connected };
	struct err e;
	assert_int_equal(tcp_addr_parse(&o.peer, "127.0.0.1:3260", 0, &e), 0);
	assert_int_equal(dm_iser_initiator_connect(&r->dm, r->w, &o, &up, r, &e), 0);
}

// Until the connection is closed and freed.
static inline void rig_run(struct rig *r)
{
	r->start.fn = rig_go;
	worker_post(r->w, &r->start);
	run_guarded(r->w);
	assert_true(r->is_closed);
	assert_int_equal(r->done_count, r->task_count);
}

static inline void rig_done(struct rig *r)
{
	fake_rnic_done(&r->f);
	worker_free(r->w);
}
