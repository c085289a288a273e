// SPDX-License-Identifier: BSD-2-Clause
// The initiator's iSER mover in a test: on a control worker, over a provider of RDMA that is the
// test's own, with a scripted target behind it. What the mover sends goes to the script; what the
// script says, and what it does to exposed memory, is the target's.
#pragma once

#include "core/worker_util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/iser/dm_iser_initiator.h"
#include "transport/iser/iser.h"
#include "transport/wire/be.h"

enum { TASKS = 160, EXPOSED = 256, PENDING = 256 };

struct exposure {
	bool is_live;
	uint32_t rkey;
	unsigned access;
	struct sg sg;
	uint32_t nsg;
	uint64_t len;
};

struct rig {
	struct worker *w;
	struct dmi *dm;
	struct iscsi_params params;
	struct dmi_task tasks[TASKS];
	int task_count;
	int res[TASKS], done_count, controls, windows;
	bool is_closed, ends_when_done, stays_in_login;
	struct err why;
	struct msg start;
	uint8_t last_control[ISCSI_BHS_LEN];
	uint32_t last_data_len;
	bool has_nul;
	struct dmi_sns sns; // at the end
	unsigned tasks_max;

	// the provider
	struct rnic rnic;
	struct rnic_provider provider;
	struct rnic_qp qp;
	struct rnic_qp_options options;
	uint8_t private_data[16];
	struct rnic_mr all; // what find answers
	bool finds_nothing; // of the commands' memory
	bool exposes_registered_only, holds_sends;
	int fail_connect;	// what a connect ends with
	struct err connect_why; // ... in words
	bool is_qp_freed;
	struct exposure exposed[EXPOSED];
	int exposed_count, live, registered, reserved;
	struct rnic_wr *pending[PENDING]; // posted, not taken yet
	int pending_count, held_count;
	struct rnic_wr *held[PENDING]; // taken, done not called
	struct defer pump;
	struct msg event;

	void (*script)(struct rig *r, const uint8_t *hdr, const uint8_t *bhs, const uint8_t *data,
		       uint32_t len);
	uint32_t pdus, max_flying, stat_sn, max_cmd_sn;
	int step;
};

static struct rig *the_rig;

static inline void rig_end(struct rig *r)
{
	struct err e;
	err_set(&e, -ESHUTDOWN, "end of test");
	r->dm->ops->close(r->dm, &e);
}

// --- the provider ---

static inline void rig_established(struct msg *m)
{
	struct rig *r = container_of(m, struct rig, event);
	if (r->fail_connect) {
		r->qp.is_closing = true;
		r->qp.ops->closed(&r->qp, &r->connect_why);
		return;
	}
	r->qp.is_established = true;
	r->qp.ops->established(&r->qp, NULL, 0);
}

static inline int p_connect(struct rnic_qp **ret, struct worker *w, const struct tcp_addr *peer,
			    const struct tcp_addr *local, const struct rnic_qp_options *o,
			    const struct rnic_qp_ops *ops, void *owner, struct err *e)
{
	struct rig *r = the_rig;
	rnic_qp_init(&r->qp, &r->provider, &r->rnic, o, ops, owner);
	r->options = *o;
	memcpy(r->private_data, o->private_data, o->private_len);
	r->qp.peer_addr = r->qp.local_addr = *peer;
	r->event.fn = rig_established;
	worker_post(w, &r->event);
	*ret = &r->qp;
	return 0;
}

static inline void rig_let_go(struct rig *r, int res)
{
	while (r->held_count)
		rnic_wr_done(r->held[--r->held_count], res);
}

static inline void rig_flush(struct rig *r, int res)
{
	rig_let_go(r, res);
	while (r->pending_count)
		rnic_wr_done(r->pending[--r->pending_count], res);
}

static inline void rig_closed(struct msg *m)
{
	struct rig *r = container_of(m, struct rig, event);
	struct err e = r->why;
	rig_flush(r, -ECANCELED);
	rnic_qp_flush_waiting(&r->qp);
	for (int i = 0; i < r->exposed_count; i++)
		r->exposed[i].is_live = false;
	r->qp.ops->closed(&r->qp, &e);
}

static inline void p_close(struct rnic_qp *qp, bool linger, const struct err *why)
{
	struct rig *r = the_rig;
	if (qp->is_closing)
		return;
	qp->is_closing = true;
	r->why = *why;
	r->event.fn = rig_closed;
	worker_post(r->w, &r->event);
}

static inline void p_qp_free(struct rnic_qp *qp)
{
	the_rig->is_qp_freed = true;
	worker_defer_cancel(&the_rig->pump);
	worker_stop(the_rig->w);
}

// Hands one message to the script, as one block of exactly its size.
static inline void rig_take(struct rig *r, struct rnic_wr *wr)
{
	uint8_t *whole = malloc(wr->bytes), *to = whole;
	for (uint32_t i = 0; i < wr->nsge; i++) {
		memcpy(to, wr->sge[i].addr, wr->sge[i].len);
		to += wr->sge[i].len;
	}
	uint32_t len = (uint32_t)wr->bytes;
	assert_true(len >= 76);
	r->pdus++;
	if (r->holds_sends)
		r->held[r->held_count++] = wr;
	else
		rnic_wr_done(wr, 0);
	if (!r->qp.is_closing)
		r->script(r, whole, whole + 28, whole + 76, len - 76);
	free(whole);
}

static inline void rig_pump(struct defer *d)
{
	struct rig *r = container_of(d, struct rig, pump);
	for (int i = 0; i < r->pending_count; i++) {
		struct rnic_wr *wr = r->pending[i];
		if (r->qp.is_closing)
			break;
		r->pending[i] = NULL;
		rig_take(r, wr);
	}
	if (!r->qp.is_closing) {
		r->pending_count = 0;
		return;
	}
	int left = 0;
	for (int i = 0; i < r->pending_count; i++)
		if (r->pending[i])
			r->pending[left++] = r->pending[i];
	r->pending_count = left;
}

static inline void p_post(struct rnic_qp *qp, struct rnic_wr *wr)
{
	struct rig *r = the_rig;
	assert_int_equal(wr->opcode, RNIC_SEND);
	r->pending[r->pending_count++] = wr;
	worker_defer(r->w, &r->pump, rig_pump);
}

static inline void p_flush(struct rnic_qp *qp)
{
}

static inline int p_reserve(struct rnic *rn, uint32_t count)
{
	the_rig->reserved += (int)count;
	return 0;
}

static inline void p_unreserve(struct rnic *rn, uint32_t count)
{
	the_rig->reserved -= (int)count;
}

static inline void p_rx_put(struct rnic_rx *rx)
{
	free(rx->data);
	free(rx);
}

static inline int p_register(struct rnic *rn, struct rnic_mr **ret, void *addr, uint64_t len,
			     unsigned access, struct err *e)
{
	*ret = malloc(sizeof **ret);
	**ret = (struct rnic_mr){ .rnic = rn, .addr = addr, .len = len, .access = access };
	the_rig->registered++;
	return 0;
}

static inline void p_deregister(struct rnic_mr *mr)
{
	the_rig->registered--;
	free(mr);
}

static inline bool is_task_memory(const struct rig *r, const void *addr)
{
	for (int i = 0; i < r->task_count; i++)
		for (uint32_t j = 0; j < r->tasks[i].nsg; j++)
			if (r->tasks[i].sg[j].addr == addr)
				return true;
	return false;
}

static inline struct rnic_mr *p_find(struct rnic *rn, const void *addr, uint64_t len)
{
	return the_rig->finds_nothing && is_task_memory(the_rig, addr) ? NULL : &the_rig->all;
}

static inline int p_expose(struct rnic_qp *qp, struct rnic_exposed *ret, const struct sg *sg,
			   uint32_t nsg, uint64_t len, unsigned access)
{
	struct rig *r = the_rig;
	if (r->exposes_registered_only && (!r->registered || nsg != 1))
		return -EOPNOTSUPP;
	struct exposure *x = &r->exposed[r->exposed_count++];
	*x = (struct exposure){ .is_live = true,
				.rkey = 0x100u + (uint32_t)r->exposed_count,
				.access = access,
				.sg = *sg,
				.nsg = nsg,
				.len = len };
	r->live++;
	*ret = (struct rnic_exposed){ .rkey = x->rkey, .remote_addr = 0xabc000, .handle = x };
	return 0;
}

static inline void p_conceal(struct rnic_qp *qp, struct rnic_exposed *x)
{
	struct exposure *ex = x->handle;
	assert_false(the_rig->is_closed);
	assert_true(ex->is_live);
	ex->is_live = false;
	the_rig->live--;
}

static inline struct exposure *rig_exposure(struct rig *r, uint32_t rkey)
{
	for (int i = 0; i < r->exposed_count; i++)
		if (r->exposed[i].is_live && r->exposed[i].rkey == rkey)
			return &r->exposed[i];
	return NULL;
}

// --- what the target says ---

static inline void say_raw(struct rig *r, const void *bytes, uint32_t len, const uint32_t *rkey)
{
	struct rnic_rx *rx = calloc(1, sizeof *rx);
	// A receive buffer; what lies behind the message is poisoned by its size alone.
	rx->data = malloc(RNIC_RX_SIZE);
	memset(rx->data, 0xee, RNIC_RX_SIZE);
	memcpy(rx->data, bytes, len);
	rx->len = len;
	rx->rnic = &r->rnic;
	rx->is_invalidated = rkey;
	rx->invalidated_rkey = rkey ? *rkey : 0;
	r->qp.ops->received(&r->qp, rx);
}

static inline void say_inv(struct rig *r, const uint8_t *bhs, const void *data, uint32_t len,
			   const uint32_t *rkey)
{
	uint8_t msg[28 + 48 + 8192 + 512] = { ISER_CONTROL };
	memcpy(msg + 28, bhs, 48);
	put_be24(msg + 28 + 5, len);
	if (len)
		memcpy(msg + 76, data, len);
	say_raw(r, msg, 76 + ((len + 3) & ~3u), rkey);
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
	memcpy(r->last_control, bhs, ISCSI_BHS_LEN);
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
	if (!r->task_count && r->script)
		r->script(r, NULL, NULL, NULL, 0);
}

static inline void rig_init(struct rig *r)
{
	memset(r, 0, sizeof *r);
	the_rig = r;
	r->w = make_worker(true, 0);
	r->provider = (struct rnic_provider){ .name = "fake",
					      .takes_invalidation = true,
					      .connect = p_connect,
					      .close = p_close,
					      .qp_free = p_qp_free,
					      .post = p_post,
					      .flush = p_flush,
					      .reserve = p_reserve,
					      .unreserve = p_unreserve,
					      .rx_put = p_rx_put,
					      .register_mr = p_register,
					      .deregister_mr = p_deregister,
					      .find = p_find,
					      .expose = p_expose,
					      .conceal = p_conceal };
	r->rnic = (struct rnic){
		.provider = &r->provider,
		.worker = r->w,
		.name = "fake0",
		.limits = {.max_send_wr = 256,
			    .max_sge = 2,
			    .max_read_sge = 1,
			    .max_message = UINT32_MAX}
	};
	r->all = (struct rnic_mr){ .rnic = &r->rnic, .len = UINT64_MAX };
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
	struct dm_iseri_options o = { .provider = &r->provider, .connected = rig_connected };
	struct err e;
	assert_int_equal(tcp_addr_parse(&o.peer, "127.0.0.1:3260", 0, &e), 0);
	assert_int_equal(dm_iser_initiator_connect(&r->dm, r->w, &o, &up, r, &e), 0);
}

// Until the connection is closed and freed; nothing may be left of it.
static inline void rig_run(struct rig *r)
{
	r->start.fn = rig_go;
	worker_post(r->w, &r->start);
	run_guarded(r->w);
	assert_true(r->is_closed && r->is_qp_freed);
	assert_int_equal(r->done_count, r->task_count);
	assert_int_equal(r->reserved, 0);
	assert_int_equal(r->registered, 0);
}

static inline void rig_done(struct rig *r)
{
	worker_free(r->w);
}
