// SPDX-License-Identifier: BSD-2-Clause
// Shared by fuzzers of an initiator over RDMA: a device with one queue pair, which accepts every
// request and completes sends when the fuzzer says so. Nothing may be exposed or reserved twice,
// and what the initiator posts is bounded.
//
// The fuzzer sets the worker, and the functions of struct peer.
#pragma once

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/rdma/rnic.h"

enum { POSTED = 512 };

// What the target does.
struct peer {
	void (*connecting)(const struct rnic_qp_options *o); // NULL: nothing
	void (*accept)(struct msg *m);			     // in a later round
	void (*posted)(const struct rnic_wr *wr);	     // NULL: nothing
};

static struct worker *worker;
static const struct peer peer;
static struct msg connect_msg, close_msg;
static struct err close_why;
static struct rnic rnic;
static struct rnic_qp qp;
static struct rnic_mr all = { .rnic = &rnic, .len = UINT64_MAX };
static struct rnic_wr *posted[POSTED];
static unsigned posted_count, reserved, live;
static uint32_t last_rkey;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void sends_done(int res)
{
	while (posted_count) {
		struct rnic_wr *wr = posted[0];
		memmove(posted, posted + 1, --posted_count * sizeof(struct rnic_wr *));
		rnic_wr_done(wr, res);
	}
}

static int p_connect(struct rnic_qp **ret, struct worker *w, const struct tcp_addr *to,
		     const struct tcp_addr *local, const struct rnic_qp_options *o,
		     const struct rnic_qp_ops *ops, void *owner, struct err *e)
{
	memset(&qp, 0, sizeof qp);
	rnic_qp_init(&qp, rnic.provider, &rnic, o, ops, owner);
	posted_count = live = 0;
	if (peer.connecting)
		peer.connecting(o);
	connect_msg.fn = peer.accept;
	worker_post(w, &connect_msg);
	*ret = &qp;
	return 0;
}

static void on_close(struct msg *m)
{
	sends_done(-ECANCELED);
	rnic_qp_flush_waiting(&qp);
	live = 0; // the close ends every exposure
	qp.ops->closed(&qp, &close_why);
}

static void p_close(struct rnic_qp *q, bool linger, const struct err *why)
{
	if (q->is_closing)
		return;
	q->is_closing = true;
	close_why = *why;
	close_msg.fn = on_close;
	worker_post(worker, &close_msg);
}

static void p_qp_free(struct rnic_qp *q)
{
}

static void p_post(struct rnic_qp *q, struct rnic_wr *wr)
{
	must(posted_count < POSTED); // the initiator bounds what it sends
	posted[posted_count++] = wr;
	if (peer.posted)
		peer.posted(wr);
}

static void p_flush(struct rnic_qp *q)
{
}

static int p_reserve(struct rnic *r, uint32_t count)
{
	reserved += count;
	return 0;
}

static void p_unreserve(struct rnic *r, uint32_t count)
{
	reserved -= count;
}

static void p_rx_put(struct rnic_rx *rx)
{
	free(rx->data);
	free(rx);
}

static struct rnic_mr *p_find(struct rnic *r, const void *addr, uint64_t len)
{
	return &all;
}

static int p_expose(struct rnic_qp *q, struct rnic_exposed *ret, const struct sg *list,
		    uint32_t nsg, uint64_t len, unsigned access)
{
	*ret = (struct rnic_exposed){ .rkey = ++last_rkey };
	live++;
	return 0;
}

static void p_conceal(struct rnic_qp *q, struct rnic_exposed *x)
{
	must(live--);
}

static const struct rnic_provider fuzz_provider = {
	.name = "fuzz",
	.takes_invalidation = true,
	.connect = p_connect,
	.close = p_close,
	.qp_free = p_qp_free,
	.post = p_post,
	.flush = p_flush,
	.reserve = p_reserve,
	.unreserve = p_unreserve,
	.rx_put = p_rx_put,
	.find = p_find,
	.expose = p_expose,
	.conceal = p_conceal,
};
static struct rnic rnic = {
	.provider = &fuzz_provider,
	.name = "fuzz0",
	.limits = {.max_send_wr = POSTED,
		    .max_sge = 2,
		    .max_read_sge = 1,
		    .max_message = 1 << 20},
};

// The peer goes.
static void peer_gone(void)
{
	struct err gone;
	err_set(&gone, -ECONNRESET, "gone");
	p_close(&qp, false, &gone);
}
