// SPDX-License-Identifier: BSD-2-Clause
// An RDMA provider for tests: sends go to the test's script as a block of exact size, the script's
// messages are received, and exposures are in a table. On the test's worker; one device, several
// connections.
#pragma once

#include "core/worker_util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/rdma/rnic.h"
#include "transport/wire/be.h"
#include "transport/wire/iser.h"

enum { FAKE_QPS = 8, FAKE_EXPOSED = 256, FAKE_PENDING = 256 };

struct fake_exposure {
	bool is_live;
	uint32_t rkey;
	unsigned access;
	struct sg sg;
	uint32_t nsg;
	uint64_t len;
	struct rnic_qp *qp;
};

struct fake_qp {
	struct rnic_qp qp; // first
	struct fake_rnic *f;
	struct rnic_qp_options options;
	uint8_t private_data[16];
	struct msg connect_msg, close_msg;
	struct err why;
	bool is_close_posted, is_closed, is_freed;
	// Posted and not taken yet; taken, but done was not called.
	struct rnic_wr *pending[FAKE_PENDING], *held[FAKE_PENDING];
	int pending_count, held_count;
	struct defer pump;
	void *state; // the script's
};

struct fake_rnic {
	struct worker *w;
	struct rnic rnic;
	struct rnic_provider provider;
	struct rnic_mr all; // what find answers
	struct fake_qp *qps[FAKE_QPS];
	int qp_count;
	struct fake_exposure exposed[FAKE_EXPOSED];
	int exposed_count, live, registered, reserved;

	// Set by the test.
	bool (*is_unknown)(struct fake_rnic *f, const void *addr); // memory that find must not know
	bool (*is_full)(struct fake_rnic *f, const void *addr);	   // that cannot be registered
	bool exposes_registered_only;
	int expose_error;	 // of every exposure; 0: none
	const uint64_t *moved;	 // of every exposure; NULL: it does not count
	bool holds_sends;	 // until fake_let_go()
	bool holds_closes;	 // until fake_close_held()
	struct err connect_fail; // code set: the result of every connect
	bool fails_at_once;	 // ... from inside rnic_connect()
	void *arg;
	void (*message)(struct fake_qp *q, const uint8_t *hdr, const uint8_t *bhs,
			const uint8_t *data, uint32_t len);
	void (*freed)(struct fake_qp *q); // NULL: nothing
};

static struct fake_rnic *the_fake; // of the functions that are given an rnic or nothing

static inline struct fake_qp *fake_qp(struct rnic_qp *qp)
{
	return (struct fake_qp *)qp;
}

// --- connections ---

static inline void fake_established(struct msg *m)
{
	struct fake_qp *q = container_of(m, struct fake_qp, connect_msg);
	if (q->qp.is_closing)
		return;
	if (q->f->connect_fail.code) {
		q->qp.is_closing = true;
		q->is_closed = true;
		q->qp.ops->closed(&q->qp, &q->f->connect_fail);
		return;
	}
	q->qp.is_established = true;
	q->qp.ops->established(&q->qp, NULL, 0);
}

static inline int fake_connect(struct rnic_qp **ret, struct worker *w, const struct tcp_addr *peer,
			       const struct tcp_addr *local, const struct rnic_qp_options *o,
			       const struct rnic_qp_ops *ops, void *owner, struct err *e)
{
	struct fake_rnic *f = the_fake;
	if (f->fails_at_once) {
		*e = f->connect_fail;
		return e->code;
	}
	assert_true(f->qp_count < FAKE_QPS);
	struct fake_qp *q = f->qps[f->qp_count++] = calloc(1, sizeof *q);
	q->f = f;
	rnic_qp_init(&q->qp, &f->provider, &f->rnic, o, ops, owner);
	q->options = *o;
	memcpy(q->private_data, o->private_data, o->private_len);
	q->qp.peer_addr = q->qp.local_addr = *peer;
	q->connect_msg.fn = fake_established;
	worker_post(w, &q->connect_msg);
	*ret = &q->qp;
	return 0;
}

// Sent data has left completely.
static inline void fake_let_go(struct fake_qp *q, int res)
{
	while (q->held_count)
		rnic_wr_done(q->held[--q->held_count], res);
}

static inline void fake_closed(struct msg *m)
{
	struct fake_qp *q = container_of(m, struct fake_qp, close_msg);
	fake_let_go(q, -ECANCELED);
	while (q->pending_count)
		rnic_wr_done(q->pending[--q->pending_count], -ECANCELED);
	rnic_qp_flush_waiting(&q->qp);
	for (int i = 0; i < q->f->exposed_count; i++)
		if (q->f->exposed[i].qp == &q->qp && q->f->exposed[i].is_live) {
			q->f->exposed[i].is_live = false;
			q->f->live--;
		}
	q->is_closed = true;
	q->qp.ops->closed(&q->qp, &q->why);
}

// The second one, the test or the mover, finds it in progress.
static inline void fake_close_held(struct fake_qp *q)
{
	if (q->is_close_posted)
		return;
	q->is_close_posted = true;
	q->close_msg.fn = fake_closed;
	worker_post(q->f->w, &q->close_msg);
}

static inline void fake_qp_close(struct rnic_qp *qp, bool linger, const struct err *why)
{
	struct fake_qp *q = fake_qp(qp);
	if (qp->is_closing)
		return;
	qp->is_closing = true;
	q->why = *why;
	if (!q->f->holds_closes)
		fake_close_held(q);
}

static inline void fake_qp_free(struct rnic_qp *qp)
{
	struct fake_qp *q = fake_qp(qp);
	assert_true(q->is_closed && !q->is_freed);
	q->is_freed = true;
	worker_defer_cancel(&q->pump);
	if (q->f->freed)
		q->f->freed(q);
}

// --- sending ---

static inline void rdma_take(struct fake_qp *q, struct rnic_wr *wr)
{
	uint8_t *whole = malloc(wr->bytes), *to = whole;
	for (uint32_t i = 0; i < wr->nsge; i++) {
		memcpy(to, wr->sge[i].addr, wr->sge[i].len);
		to += wr->sge[i].len;
	}
	uint32_t len = (uint32_t)wr->bytes;
	assert_true(len >= 76);
	if (q->f->holds_sends)
		q->held[q->held_count++] = wr;
	else
		rnic_wr_done(wr, 0);
	if (!q->qp.is_closing)
		q->f->message(q, whole, whole + 28, whole + 76, len - 76);
	free(whole);
}

static inline void fake_pump(struct defer *d)
{
	struct fake_qp *q = container_of(d, struct fake_qp, pump);
	while (q->pending_count && !q->qp.is_closing) {
		struct rnic_wr *wr = q->pending[0];
		memmove(q->pending, q->pending + 1, (size_t)--q->pending_count * sizeof wr);
		rdma_take(q, wr);
	}
}

static inline void fake_post(struct rnic_qp *qp, struct rnic_wr *wr)
{
	struct fake_qp *q = fake_qp(qp);
	assert_int_equal(wr->opcode, RNIC_SEND);
	q->pending[q->pending_count++] = wr;
	worker_defer(q->f->w, &q->pump, fake_pump);
}

static inline void fake_flush(struct rnic_qp *qp)
{
}

// --- receiving ---

static inline int fake_reserve(struct rnic *rn, uint32_t count)
{
	the_fake->reserved += (int)count;
	return 0;
}

static inline void fake_unreserve(struct rnic *rn, uint32_t count)
{
	the_fake->reserved -= (int)count;
}

static inline void fake_rx_put(struct rnic_rx *rx)
{
	free(rx->data);
	free(rx);
}

// A message in a separate buffer, whose rest must not be visible.
static inline void rdma_say_raw(struct fake_qp *q, const void *bytes, uint32_t len,
				const uint32_t *rkey)
{
	struct rnic_rx *rx = calloc(1, sizeof *rx);
	rx->data = malloc(RNIC_RX_SIZE);
	memset(rx->data, 0xee, RNIC_RX_SIZE);
	memcpy(rx->data, bytes, len);
	rx->len = len;
	rx->rnic = &q->f->rnic;
	rx->is_invalidated = rkey;
	rx->invalidated_rkey = rkey ? *rkey : 0;
	q->qp.ops->received(&q->qp, rx);
}

// A PDU behind an iSER header; rkey: a send with invalidate, else NULL.
static inline void rdma_say(struct fake_qp *q, const uint8_t *bhs, const void *data, uint32_t len,
			    const uint32_t *rkey)
{
	uint8_t msg[28 + 48 + 8192 + 512] = { ISER_CONTROL };
	memcpy(msg + 28, bhs, 48);
	put_be24(msg + 28 + 5, len);
	if (len)
		memcpy(msg + 76, data, len);
	rdma_say_raw(q, msg, 76 + ((len + 3) & ~3u), rkey);
}

// --- memory ---

static inline int fake_register(struct rnic *rn, struct rnic_mr **ret, void *addr, uint64_t len,
				unsigned access, struct err *e)
{
	if (the_fake->is_full && the_fake->is_full(the_fake, addr))
		return err_set(e, -ENOMEM, "the memlock limit is reached");
	*ret = malloc(sizeof **ret);
	**ret = (struct rnic_mr){ .rnic = rn, .addr = addr, .len = len, .access = access };
	the_fake->registered++;
	return 0;
}

static inline void fake_deregister(struct rnic_mr *mr)
{
	the_fake->registered--;
	free(mr);
}

static inline struct rnic_mr *fake_find(struct rnic *rn, const void *addr, uint64_t len)
{
	struct fake_rnic *f = the_fake;
	return f->is_unknown && f->is_unknown(f, addr) ? NULL : &f->all;
}

// The first ones in order, then those that are over.
static inline struct fake_exposure *fake_place(struct fake_rnic *f)
{
	struct fake_exposure *x = f->exposed;
	if (f->exposed_count < FAKE_EXPOSED)
		return &f->exposed[f->exposed_count++];
	while (x < f->exposed + FAKE_EXPOSED && x->is_live)
		x++;
	assert_true(x < f->exposed + FAKE_EXPOSED);
	return x;
}

static inline int fake_expose(struct rnic_qp *qp, struct rnic_exposed *ret, const struct sg *sg,
			      uint32_t nsg, uint64_t len, unsigned access)
{
	struct fake_rnic *f = the_fake;
	if (f->expose_error)
		return f->expose_error;
	bool is_unregistered =
		!f->registered || nsg != 1 || (f->is_full && f->is_full(f, sg[0].addr));
	if (f->exposes_registered_only && is_unregistered)
		return -EOPNOTSUPP;
	struct fake_exposure *x = fake_place(f);
	*x = (struct fake_exposure){ .is_live = true,
				     .rkey = 0x101u + (uint32_t)(x - f->exposed),
				     .access = access,
				     .sg = *sg,
				     .nsg = nsg,
				     .len = len,
				     .qp = qp };
	f->live++;
	*ret = (struct rnic_exposed){
		.rkey = x->rkey, .remote_addr = 0xabc000, .moved = f->moved, .handle = x
	};
	return 0;
}

static inline void fake_conceal(struct rnic_qp *qp, struct rnic_exposed *x)
{
	struct fake_exposure *ex = x->handle;
	assert_true(ex->is_live && !fake_qp(qp)->is_closed);
	ex->is_live = false;
	the_fake->live--;
}

// --- begin and end ---

static inline void fake_rnic_init(struct fake_rnic *f, struct worker *w)
{
	memset(f, 0, sizeof *f);
	the_fake = f;
	f->w = w;
	f->provider = (struct rnic_provider){ .name = "fake",
					      .takes_invalidation = true,
					      .connect = fake_connect,
					      .close = fake_qp_close,
					      .qp_free = fake_qp_free,
					      .post = fake_post,
					      .flush = fake_flush,
					      .reserve = fake_reserve,
					      .unreserve = fake_unreserve,
					      .rx_put = fake_rx_put,
					      .register_mr = fake_register,
					      .deregister_mr = fake_deregister,
					      .find = fake_find,
					      .expose = fake_expose,
					      .conceal = fake_conceal };
	f->rnic = (struct rnic){
		.provider = &f->provider,
		.worker = w,
		.name = "fake0",
		.limits = {.max_send_wr = 256,
			    .max_sge = 2,
			    .max_read_sge = 1,
			    .max_message = UINT32_MAX}
	};
	f->all = (struct rnic_mr){ .rnic = &f->rnic, .len = UINT64_MAX };
}

// Nothing may be left of any connection.
static inline void fake_rnic_done(struct fake_rnic *f)
{
	for (int i = 0; i < f->qp_count; i++) {
		assert_true(f->qps[i]->is_freed);
		free(f->qps[i]);
	}
	assert_int_equal(f->reserved, 0);
	assert_int_equal(f->registered, 0);
	assert_int_equal(f->live, 0);
}
