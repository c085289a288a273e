// SPDX-License-Identifier: BSD-2-Clause
// Two ends of a connection, each on a separate worker, driven and watched from the test's thread:
// run() does something on a worker, WAIT() waits until something has happened there.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/worker.h"
#include "transport/rdma/iwarp/iwarp.h"
#include "transport/rdma/rnic.h"
#include "transport/wire/be.h"
#include "transport/wire/iwarp.h"

enum { RX_MAX = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

#define NOTE(statement)                                                                            \
	do {                                                                                       \
		pthread_mutex_lock(&mutex);                                                        \
		statement;                                                                         \
		pthread_cond_broadcast(&changed);                                                  \
		pthread_mutex_unlock(&mutex);                                                      \
	} while (0)

#define WAIT(condition)                                                                            \
	do {                                                                                       \
		struct timespec until_;                                                            \
		bool holds_;                                                                       \
		clock_gettime(CLOCK_REALTIME, &until_);                                            \
		until_.tv_sec += 60;                                                               \
		pthread_mutex_lock(&mutex);                                                        \
		while (!(holds_ = (condition)) &&                                                  \
		       !pthread_cond_timedwait(&changed, &mutex, &until_))                         \
			;                                                                          \
		pthread_mutex_unlock(&mutex);                                                      \
		if (!holds_)                                                                       \
			fail_msg("never happened: %s", #condition);                                \
	} while (0)

// On a worker's thread cmocka cannot end a test: a failed check there ends the program.
#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

struct side {
	struct worker *w;
	struct rnic_qp *qp; // NULL once freed
	struct rnic *rnic;
	struct rnic_qp_options options;
	struct rnic_exposed x;
	unsigned established, closed, rejected, received, requests, gone, refused;
	struct err why; // it closed, or refused its peer
	uint8_t private_data[256];
	uint32_t private_len;
	bool keeps_rx, rejects, ignores, closes_at_once;
	struct rnic_rx *kept[RX_MAX];
	struct {
		uint8_t data[256]; // what fits of it
		uint32_t len, rkey;
		bool is_invalidated;
		uint32_t sum;
	} rx[RX_MAX];
	struct rnic_request *request;
	uint32_t request_reads_in, request_reads_out;
	uint32_t reserved;
};

struct req {
	struct rnic_wr wr;
	struct rnic_sge sge[8];
	struct side *side;
	int res; // 1: not yet
	unsigned order;
};

static unsigned done_order;

struct call {
	void (*fn)(void *a, void *b);
	void *a, *b;
};

static void do_call(void *arg)
{
	struct call *c = arg;

	c->fn(c->a, c->b);
}

static void run(struct side *s, void (*fn)(void *a, void *b), void *a, void *b)
{
	struct call c = { fn, a, b };

	worker_call(s->w, do_call, &c);
}

static uint32_t sum_of(const uint8_t *p, uint32_t n)
{
	uint32_t sum = n;

	while (n--)
		sum = sum * 31 + *p++;
	return sum;
}

static void on_established(struct rnic_qp *qp, const uint8_t *data, uint32_t len)
{
	struct side *s = qp->owner;

	NOTE({
		s->established++;
		s->private_len = len;
		if (len)
			memcpy(s->private_data, data, len);
	});
}

static void on_received(struct rnic_qp *qp, struct rnic_rx *rx)
{
	struct side *s = qp->owner;

	NOTE({
		unsigned i = s->received % RX_MAX;
		memcpy(s->rx[i].data, rx->data, rx->len < 256 ? rx->len : 256);
		s->rx[i].len = rx->len;
		s->rx[i].rkey = rx->invalidated_rkey;
		s->rx[i].is_invalidated = rx->is_invalidated;
		s->rx[i].sum = sum_of(rx->data, rx->len);
		s->kept[i] = s->keeps_rx ? rx : NULL;
		s->received++;
	});
	if (!s->keeps_rx)
		rnic_rx_put(rx);
}

static void on_rejected(struct rnic_qp *qp, const uint8_t *data, uint32_t len)
{
	struct side *s = qp->owner;

	NOTE({
		s->rejected++;
		s->private_len = len;
		if (len)
			memcpy(s->private_data, data, len);
	});
}

static void on_closed(struct rnic_qp *qp, const struct err *e)
{
	struct side *s = qp->owner;

	rnic_conceal(qp, &s->x);
	rnic_qp_free(qp);
	NOTE({
		s->why = *e;
		s->qp = NULL;
		s->closed++;
	});
}

static const struct rnic_qp_ops qp_ops = {
	.established = on_established,
	.received = on_received,
	.rejected = on_rejected,
	.closed = on_closed,
};

static void on_request(void *arg, struct rnic_request *q)
{
	struct side *s = arg;
	struct err e;

	s->rnic = q->rnic;
	s->request = q;
	if (s->rejects)
		rnic_reject(q, "no", 2);
	else if (!s->ignores)
		MUST(!rnic_accept(q, &s->qp, &s->options, &qp_ops, s, &e));
	NOTE({
		s->requests++;
		if (s->ignores) {
			s->private_len = q->private_len;
			memcpy(s->private_data, q->private_data, q->private_len);
			s->request_reads_in = q->reads_in;
			s->request_reads_out = q->reads_out;
		}
	});
}

static void on_gone(void *arg, struct rnic_request *q)
{
	struct side *s = arg;

	NOTE(s->gone++);
}

static void on_refused(void *arg, const struct tcp_addr *from, const struct err *e)
{
	struct side *s = arg;

	NOTE({
		s->why = *e;
		s->refused++;
	});
}

static const struct rnic_listener_ops listener_ops = {
	.request = on_request,
	.gone = on_gone,
	.refused = on_refused,
};

static void on_done(struct rnic_wr *wr, int res)
{
	struct req *r = container_of(wr, struct req, wr);

	NOTE({
		r->res = res;
		r->order = ++done_order;
	});
}

// --- requests ---

static void post_here(void *a, void *b)
{
	struct side *s = a;
	struct req *r = b;

	if (s->qp)
		MUST(!rnic_post(s->qp, &r->wr));
	else
		on_done(&r->wr, -ECANCELED); // the connection has ended meanwhile
}

static inline struct req *req_add(struct req *r, void *addr, uint32_t len)
{
	r->sge[r->wr.nsge++] = (struct rnic_sge){ addr, len, rnic_find(r->side->rnic, addr, len) };
	r->wr.sge = r->sge;
	return r;
}

static inline struct req *req_init(struct req *r, struct side *s, enum rnic_opcode opcode,
				   void *addr, uint32_t len)
{
	*r = (struct req){
		.side = s, .res = 1, .wr = {.opcode = opcode, .done = on_done}
	};
	return len ? req_add(r, addr, len) : r;
}

static inline void post(struct req *r)
{
	run(r->side, post_here, r->side, r);
}

static inline void send_text(struct side *s, struct req *r, const char *text)
{
	post(req_init(r, s, RNIC_SEND, (void *)(uintptr_t)text, (uint32_t)strlen(text)));
}

static void close_here(void *a, void *b)
{
	struct side *s = a;
	struct err e;

	err_set(&e, -ESHUTDOWN, "the test closes");
	if (s->qp)
		rnic_close(s->qp, b != NULL, &e);
}

struct exposing {
	struct sg *sg;
	uint32_t nsg, access;
	uint64_t len;
};

static inline void expose_here(void *a, void *b)
{
	struct side *s = a;
	struct exposing *x = b;

	MUST(!rnic_expose(s->qp, &s->x, x->sg, x->nsg, x->len, x->access));
}

static inline void conceal_here(void *a, void *b)
{
	struct side *s = a;

	rnic_conceal(s->qp, &s->x);
}

static inline void expose(struct side *s, struct sg *sg, uint32_t nsg, uint64_t len,
			  unsigned access)
{
	struct exposing x = { sg, nsg, access, len };

	run(s, expose_here, s, &x);
}

// The request is for what s exposes, from there on.
static inline void req_at(struct req *r, const struct side *s, uint64_t offset)
{
	r->wr.rkey = s->x.rkey;
	r->wr.remote_addr = s->x.remote_addr + offset;
}

static inline void reserve_here(void *a, void *b)
{
	struct side *s = a;

	s->rnic = s->qp ? s->qp->rnic : s->rnic;
	MUST(!rnic_reserve(s->rnic, (uint32_t)(uintptr_t)b));
	s->reserved += (uint32_t)(uintptr_t)b;
}

static inline void put_here(void *a, void *b)
{
	struct side *s = a;
	unsigned i = (unsigned)(uintptr_t)b;

	rnic_rx_put(s->kept[i]);
	s->kept[i] = NULL;
}

static void side_start(struct side *s, const char *name)
{
	struct worker_options o = { .name = name, .cpu = -1 };
	struct err e;

	memset(s, 0, sizeof *s);
	s->options.reads_in = s->options.reads_out = 16;
	assert_int_equal(worker_new(&s->w, &o, &e), 0);
	assert_int_equal(worker_start(s->w, &e), 0);
}

static void unreserve_here(void *a, void *b)
{
	struct side *s = a;

	if (s->reserved)
		rnic_unreserve(s->rnic, s->reserved);
}

static void side_stop(struct side *s)
{
	run(s, close_here, s, NULL);
	WAIT(!s->qp);
	run(s, unreserve_here, s, NULL);
	worker_stop(s->w);
	worker_free(s->w);
	s->w = NULL;
}
