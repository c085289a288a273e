// SPDX-License-Identifier: BSD-2-Clause
// An RDMA provider in memory, whose requests end when the test says so, and the initiator at its
// other end: what it receives, its memory, what it sends. The including file provides assert_true()
// and assert_int_equal(), cmocka's or others.
#pragma once

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/rdma/rnic.h"

enum { FAKE_POSTED = 2048, FAKE_SENT = 128, FAKE_REMOTE = 1 << 20, FAKE_RKEY = 0x1234 };

struct fake_sent { // a send that arrived
	uint8_t data[16384];
	uint32_t len;
	enum rnic_opcode opcode;
	uint32_t rkey;
};

static struct {
	struct rnic rnic;
	struct rnic_request request;
	uint8_t private_data[4], answer[RNIC_PRIVATE_MAX]; // answer: of an accept or a reject
	uint32_t answer_len, reads_out, tos, pkey;
	struct rnic_qp qp;
	struct rnic_wr *posted[FAKE_POSTED];
	unsigned posted_count, done_count;
	struct fake_sent sent[FAKE_SENT];
	unsigned sent_count;
	uint8_t remote[FAKE_REMOTE]; // the initiator's, from address 0 on
	uint64_t remote_len;	     // its registrations
	int reserved, reserved_at_accept, rx_out, accepts, rejects, closes;
	bool is_lingering, refuses_reserve;
	bool is_scarce; // receive buffers
	struct err why;
	// Memory that the device does not know, and where its registrations end.
	uint8_t *unknown, *seam;
	uint64_t unknown_len;
	bool knows_nothing;
} fake;

static struct rnic_mr fake_low, fake_high;

static struct rnic_mr *fake_find(struct rnic *r, const void *addr, uint64_t len)
{
	const uint8_t *a = addr;
	uintptr_t at = (uintptr_t)addr, seam = (uintptr_t)fake.seam;
	bool is_unknown =
		fake.unknown_len && a >= fake.unknown && a < fake.unknown + fake.unknown_len;
	if (fake.knows_nothing || is_unknown)
		return NULL;
	fake_low = (struct rnic_mr){ .rnic = r, .len = seam ? seam : UINT64_MAX };
	fake_high = (struct rnic_mr){ .rnic = r, .addr = fake.seam, .len = UINT64_MAX - seam };
	return seam && at >= seam ? &fake_high : &fake_low;
}

static int fake_accept(struct rnic_request *q, struct rnic_qp **ret,
		       const struct rnic_qp_options *o, const struct rnic_qp_ops *ops, void *owner,
		       struct err *e)
{
	fake.accepts++;
	fake.reserved_at_accept = fake.reserved;
	fake.tos = o->tos;
	fake.pkey = o->pkey;
	fake.answer_len = o->private_len;
	memcpy(fake.answer, o->private_data, o->private_len);
	rnic_qp_init(&fake.qp, q->provider, q->rnic, o, ops, owner);
	fake.reads_out = o->reads_out;
	fake.qp.is_established = true;
	*ret = &fake.qp;
	ops->established(&fake.qp, NULL, 0);
	return 0;
}

static void fake_reject(struct rnic_request *q, const void *private_data, uint32_t len)
{
	fake.rejects++;
	fake.answer_len = len;
	if (len)
		memcpy(fake.answer, private_data, len);
}

static void fake_close(struct rnic_qp *qp, bool linger, const struct err *why)
{
	if (!qp->is_closing)
		fake.why = *why;
	qp->is_closing = true;
	fake.is_lingering = linger;
	fake.closes++;
}

static void fake_qp_free(struct rnic_qp *qp)
{
}

static void fake_post(struct rnic_qp *qp, struct rnic_wr *wr)
{
	assert_true(fake.posted_count < FAKE_POSTED);
	fake.posted[fake.posted_count++] = wr;
}

static void fake_flush(struct rnic_qp *qp)
{
}

static int fake_reserve(struct rnic *r, uint32_t count)
{
	if (fake.refuses_reserve)
		return -ENOMEM;
	fake.reserved += (int)count;
	return 0;
}

static void fake_unreserve(struct rnic *r, uint32_t count)
{
	fake.reserved -= (int)count;
}

static void fake_rx_put(struct rnic_rx *rx)
{
	fake.rx_out--;
	memset(rx->data, 0xee, rx->len);
	free(rx->data);
	free(rx);
}

static const struct rnic_provider fake_provider = {
	.name = "fake",
	.accept = fake_accept,
	.reject = fake_reject,
	.close = fake_close,
	.qp_free = fake_qp_free,
	.post = fake_post,
	.flush = fake_flush,
	.reserve = fake_reserve,
	.unreserve = fake_unreserve,
	.rx_put = fake_rx_put,
	.find = fake_find,
};

static inline void fake_init(struct worker *w)
{
	memset(&fake, 0, sizeof fake);
	fake.rnic = (struct rnic){
		.provider = &fake_provider,
		.worker = w,
		.name = "fake",
		.limits = {.max_send_wr = 128,
			    .max_sge = 4,
			    .max_read_sge = 2,
			    .max_reads_out = 16,
			    .max_message = 1 << 20,
			    .can_invalidate = true},
	};
	fake.request = (struct rnic_request){ .provider = &fake_provider,
					      .rnic = &fake.rnic,
					      .carrier = "iWARP",
					      .private_data = fake.private_data,
					      .private_len = sizeof fake.private_data,
					      .reads_out = 16,
					      .reads_in = 1 };
	fake.private_data[0] = 0xc0;
	fake.remote_len = FAKE_REMOTE;
}

// Whether the request is within what the initiator has registered.
static inline bool fake_may_move(const struct rnic_wr *wr)
{
	return wr->rkey == FAKE_RKEY && wr->remote_addr <= fake.remote_len &&
	       wr->bytes <= fake.remote_len - wr->remote_addr;
}

static inline void fake_move(struct rnic_wr *wr)
{
	uint64_t at = wr->remote_addr;
	assert_true(fake_may_move(wr));
	for (uint32_t i = 0; i < wr->nsge; at += wr->sge[i++].len) {
		if (wr->opcode == RNIC_WRITE)
			memcpy(fake.remote + at, wr->sge[i].addr, wr->sge[i].len);
		else
			memcpy(wr->sge[i].addr, fake.remote + at, wr->sge[i].len);
	}
}

static inline void fake_arrive(const struct rnic_wr *wr)
{
	struct fake_sent *s = &fake.sent[fake.sent_count++];
	assert_true(fake.sent_count < FAKE_SENT);
	s->opcode = wr->opcode;
	s->rkey = wr->rkey;
	s->len = wr->sge[0].len;
	assert_int_equal(wr->nsge, 1);
	memcpy(s->data, wr->sge[0].addr, s->len);
}

// Serves the oldest unserved request. False: none.
static inline bool fake_step(void)
{
	if (fake.done_count == fake.posted_count)
		return false;
	struct rnic_wr *wr = fake.posted[fake.done_count++];
	if (wr->opcode == RNIC_READ || wr->opcode == RNIC_WRITE)
		fake_move(wr);
	else
		fake_arrive(wr);
	rnic_wr_done(wr, 0);
	return true;
}

static inline void fake_run(void)
{
	while (fake_step())
		;
}

// Ends the connection: unserved requests are flushed.
static inline void fake_end(int code)
{
	struct err e = fake.why;
	if (!fake.qp.is_closing)
		err_set(&e, code, "gone");
	fake.qp.is_closing = true;
	while (fake.done_count < fake.posted_count)
		rnic_wr_done(fake.posted[fake.done_count++], -ECANCELED);
	rnic_qp_flush_waiting(&fake.qp);
	fake.qp.is_established = false;
	fake.qp.ops->closed(&fake.qp, &e);
}

// A message from the initiator.
static inline void fake_receive(const void *data, uint32_t len)
{
	struct rnic_rx *rx = calloc(1, sizeof *rx);
	rx->data = malloc(len ? len : 1);
	memcpy(rx->data, data, len);
	rx->len = len;
	rx->rnic = &fake.rnic;
	rx->is_scarce = fake.is_scarce;
	fake.rx_out++;
	fake.qp.ops->received(&fake.qp, rx);
}
