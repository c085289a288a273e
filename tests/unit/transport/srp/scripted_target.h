// SPDX-License-Identifier: BSD-2-Clause
// A target of SRP over software iWARP on the test's worker: it answers logins as it is told and
// passes IUs to the test's script, which says what it likes.
#pragma once

#include "core/worker_util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/rdma/rnic.h"
#include "transport/srp/iu.h"
#include "transport/srp/login.h"
#include "transport/wire/be.h"

enum { ST_CONNS = 64 };

struct st_target;

struct st_conn {
	struct st_target *t;
	struct rnic_qp *qp; // NULL: closed
	struct srp_login login;
	uint64_t tag; // of the last IU that has one
	unsigned ius;
};

struct st_target {
	struct worker *w;
	struct rnic_listener *listener;
	struct st_conn conns[ST_CONNS];
	unsigned logins, live;
	struct msg gone; // runs when the last connection is closed after st_stop()
	bool is_stopping;

	// Set by the test.
	struct srp_accept accept; // tag is filled
	uint32_t rejects;	  // reason of every LOGIN_REJ; 0: accepts
	unsigned rejects_from;	  // ... from this login on
	const uint8_t *raw;	  // instead of a LOGIN_RSP or LOGIN_REJ
	uint32_t raw_len;
	bool (*login)(struct st_conn *c); // has arrived; false: it is not answered
	void (*iu)(struct st_conn *c, const uint8_t *iu, uint32_t len);
	void *arg;
};

// --- what it says ---

struct st_send {
	struct rnic_wr wr;
	struct rnic_sge sge;
	struct buf *b;
	void (*then)(struct st_conn *c);
	struct st_conn *c;
};

static inline void st_sent(struct rnic_wr *wr, int res)
{
	struct st_send *s = container_of(wr, struct st_send, wr);
	if (s->then && !res)
		s->then(s->c);
	buf_put(s->b);
	free(s);
}

static inline struct st_send *st_new(struct st_conn *c, const void *bytes, uint32_t len)
{
	struct st_send *s = calloc(1, sizeof *s);
	s->c = c;
	s->b = buf_get(c->t->w, len ? len : 1);
	if (len && bytes)
		memcpy(s->b->addr, bytes, len);
	s->sge = (struct rnic_sge){ s->b->addr, len,
				    rnic_find(c->qp->rnic, s->b->addr, len ? len : 1) };
	s->wr = (struct rnic_wr){ .opcode = RNIC_SEND,
				  .flags = RNIC_SIGNALED,
				  .sge = &s->sge,
				  .nsge = len > 0,
				  .done = st_sent };
	return s;
}

static inline void st_say(struct st_conn *c, const void *bytes, uint32_t len)
{
	assert_int_equal(rnic_post(c->qp, &st_new(c, bytes, len)->wr), 0);
}

static inline void st_say_invalidating(struct st_conn *c, const void *bytes, uint32_t len,
				       uint32_t rkey)
{
	struct st_send *s = st_new(c, bytes, len);
	s->wr.opcode = RNIC_SEND_INVALIDATE;
	s->wr.rkey = rkey;
	assert_int_equal(rnic_post(c->qp, &s->wr), 0);
}

static inline void st_write(struct st_conn *c, const struct srp_desc *d, const void *bytes,
			    uint32_t len)
{
	struct st_send *s = st_new(c, bytes, len);
	s->wr.opcode = RNIC_WRITE;
	s->wr.rkey = d->key;
	s->wr.remote_addr = d->va;
	assert_int_equal(rnic_post(c->qp, &s->wr), 0);
}

static inline void st_short(struct st_conn *c, enum srp_opcode opcode, uint64_t tag, uint32_t value)
{
	uint8_t iu[SRP_SHORT_LEN];
	srp_short_put(iu, opcode, tag, value);
	st_say(c, iu, sizeof iu);
}

static inline void st_respond(struct st_conn *c, const struct srp_response *r)
{
	uint8_t iu[512];
	st_say(c, iu, srp_response_put(iu, sizeof iu, r));
}

// GOOD, or that of a task management request.
static inline void st_answer(struct st_conn *c, const uint8_t *iu)
{
	struct srp_response r = { .credits = 1, .has_code = iu[0] == SRP_TSK_MGMT };
	memcpy(&r.tag, iu + 8, 8);
	if (iu[0] == SRP_CMD || iu[0] == SRP_TSK_MGMT)
		st_respond(c, &r);
}

static inline void st_hang_up(struct st_conn *c)
{
	struct err e;
	err_set(&e, -ECONNRESET, "the script hangs up");
	rnic_close(c->qp, false, &e);
}

// --- its end ---

static inline void st_established(struct rnic_qp *qp, const uint8_t *data, uint32_t len)
{
}

static inline void st_received(struct rnic_qp *qp, struct rnic_rx *rx)
{
	struct st_conn *c = qp->owner;
	uint8_t *copy = malloc(rx->len ? rx->len : 1); // of exactly its size
	uint32_t len = rx->len;
	memcpy(copy, rx->data, len);
	rnic_rx_put(rx);
	c->ius++;
	assert_true(len >= SRP_SHORT_LEN);
	memcpy(&c->tag, copy + 8, 8);
	if (c->t->iu)
		c->t->iu(c, copy, len);
	else
		st_answer(c, copy);
	free(copy);
}

static inline void st_rejected(struct rnic_qp *qp, const uint8_t *data, uint32_t len)
{
}

static inline void st_closed(struct rnic_qp *qp, const struct err *why)
{
	struct st_conn *c = qp->owner;
	rnic_unreserve(qp->rnic, 64);
	rnic_qp_free(qp);
	c->qp = NULL;
	if (!--c->t->live && c->t->is_stopping)
		worker_stop(c->t->w);
}

static const struct rnic_qp_ops st_qp_ops = {
	.established = st_established,
	.received = st_received,
	.rejected = st_rejected,
	.closed = st_closed,
};

static inline void st_refuse(struct st_target *t, struct rnic_request *q, uint64_t tag)
{
	uint8_t rej[SRP_LOGIN_REJ_LEN];
	srp_reject_put(rej, tag, (enum srp_rej_reason)t->rejects);
	rnic_reject(q, t->raw ? t->raw : rej, t->raw ? t->raw_len : sizeof rej);
}

static inline void st_request(void *arg, struct rnic_request *q)
{
	struct st_target *t = arg;
	struct st_conn *c = &t->conns[t->logins];
	uint8_t rsp[SRP_LOGIN_RSP_LEN];
	struct err e;
	assert_true(t->logins < ST_CONNS);
	c->t = t;
	assert_int_equal(srp_login_parse(&c->login, q->private_data, q->private_len, false, &e), 0);
	if (++t->logins > t->rejects_from && t->rejects) {
		st_refuse(t, q, c->login.tag);
		return;
	}
	if (t->login && !t->login(c)) // gone follows
		return;
	struct srp_accept a = t->accept;
	a.tag = a.tag ? a.tag : c->login.tag;
	srp_accept_put(rsp, &a);
	const struct rnic_qp_options o = { .reads_out = 4,
					   .private_data = t->raw ? t->raw : rsp,
					   .private_len = t->raw ? t->raw_len : sizeof rsp };
	assert_int_equal(rnic_accept(q, &c->qp, &o, &st_qp_ops, c, &e), 0);
	assert_int_equal(rnic_reserve(c->qp->rnic, 64), 0);
	t->live++;
}

static inline void st_gone(void *arg, struct rnic_request *q)
{
}

static const struct rnic_listener_ops st_listener_ops = { .request = st_request, .gone = st_gone };

static inline void st_listen(struct st_target *t, const char *where)
{
	struct tcp_addr addr;
	struct err e;
	assert_int_equal(tcp_addr_parse(&addr, where, 0, &e), 0);
	if (rnic_listen(&rnic_iwarp, &t->listener, t->w, &addr, &st_listener_ops, t, &e) < 0)
		fail_msg("%s", e.text);
}

static inline void st_start(struct st_target *t, struct worker *w)
{
	memset(t, 0, sizeof *t);
	t->w = w;
	t->accept = (struct srp_accept){ .credits = 32,
					 .it_iu_len = SRP_IT_IU_MAX,
					 .ti_iu_len = 512,
					 .formats = SRP_FMT_DIRECT | SRP_FMT_INDIRECT,
					 .flags = SRP_IMMED_SUPPORTED };
	st_listen(t, "127.0.0.1");
}

static inline void st_stop_now(struct msg *m)
{
	struct st_target *t = container_of(m, struct st_target, gone);
	t->is_stopping = true;
	rnic_listener_free(t->listener);
	if (!t->live)
		worker_stop(t->w);
}

// Ends it, and the worker's loop when the initiator has closed all connections.
static inline void st_stop(struct st_target *t)
{
	t->gone.fn = st_stop_now;
	worker_post(t->w, &t->gone);
}

// The first descriptor of a command's data.
static inline void st_desc(struct srp_desc *ret, const uint8_t *iu, uint32_t len, bool is_read)
{
	struct srp_command c;
	struct err e;
	assert_int_equal(srp_command_parse(&c, iu, len, SRP_IMM_OFFSET, &e), 0);
	srp_desc_parse(ret, is_read ? c.in.descs : c.out.descs);
}
