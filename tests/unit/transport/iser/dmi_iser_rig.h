// SPDX-License-Identifier: BSD-2-Clause
// The initiator's iSER mover in a test: over a fake device, whose other end is the scripted target.
#pragma once

#include "transport/iscsi/initiator_rig.h"

#include "transport/iser/dmi_iser.h"
#include "transport/iser/fake_device.h"
#include "transport/iser/iser.h"

static inline struct fake_rnic *device(struct rig *r)
{
	return r->below;
}

static inline void iser_heard(struct fake_qp *q, const uint8_t *hdr, const uint8_t *bhs,
			      const uint8_t *data, uint32_t len)
{
	struct rig *r = q->f->arg;
	r->hdr = hdr;
	rig_heard(r, bhs, data, len);
}

static inline void iser_freed(struct fake_qp *q)
{
	worker_stop(((struct rig *)q->f->arg)->w);
}

static inline void iser_init(struct rig *r)
{
	struct fake_rnic *f = r->below = malloc(sizeof *f);
	fake_rnic_init(f, r->w);
	f->arg = r;
	f->message = iser_heard;
	f->freed = iser_freed;
	r->params.max_recv_data = r->params.max_send_data = 8192;
	r->params.first_burst = 65536;
	r->params.max_burst = 262144;
	r->params.rdma_extensions = true;
}

static inline void iser_connected(struct dmi *dm)
{
	rig_begin(dm->role);
}

static inline void iser_connect(struct rig *r)
{
	struct dmi_iser_options o = { .provider = &device(r)->provider,
				      .connected = iser_connected };
	struct err e;
	assert_int_equal(tcp_addr_parse(&o.peer, "127.0.0.1:3260", 0, &e), 0);
	assert_int_equal(dmi_iser_connect(&r->dm, r->w, &o, &up, r, &e), 0);
}

static inline void iser_say(struct rig *r, const void *pdu, uint32_t len)
{
	uint8_t msg[RNIC_RX_SIZE] = { ISER_CONTROL };
	memcpy(msg + ISER_HDR_LEN, pdu, len);
	rdma_say_raw(device(r)->qps[0], msg, ISER_HDR_LEN + len, NULL);
}

static inline void iser_hang_up(struct rig *r)
{
	struct err e;
	err_set(&e, -ECONNRESET, "gone");
	fake_qp_close(&device(r)->qps[0]->qp, false, &e);
}

static inline void iser_closed(struct rig *r)
{
	// The worker stops when the queue pair has been freed.
}

static inline void iser_done(struct rig *r)
{
	fake_rnic_done(device(r));
	free(r->below);
}

static const struct carrier iser_carrier = {
	.name = "iSER",
	.init = iser_init,
	.connect = iser_connect,
	.say = iser_say,
	.hang_up = iser_hang_up,
	.closed = iser_closed,
	.done = iser_done,
};

// --- what a target says over iSER only ---

// rkey: a send with invalidate.
static inline void say_raw(struct rig *r, const void *bytes, uint32_t len, const uint32_t *rkey)
{
	rdma_say_raw(device(r)->qps[0], bytes, len, rkey);
}

static inline void say_inv(struct rig *r, const uint8_t *bhs, const uint32_t *rkey)
{
	rdma_say(device(r)->qps[0], bhs, NULL, 0, rkey);
}

static inline void response_inv(struct rig *r, const uint8_t *cmd, const uint32_t *rkey)
{
	uint8_t bhs[48];
	response_head(r, bhs, cmd, 0, 0, 0);
	say_inv(r, bhs, rkey);
}
