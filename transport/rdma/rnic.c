// SPDX-License-Identifier: BSD-2-Clause
// Common code of all providers: checks requests before a provider sees them, and queues them in
// software while the queue pair is full or has its agreed number of reads in flight.
//
// A waiting read does not hold up later requests (sends are not ordered behind reads anyway),
// except a fenced request, which waits for all earlier reads, and everything after it.
#include "transport/rdma/rnic.h"

#include <errno.h>

#include "core/counter.h"

void rnic_qp_init(struct rnic_qp *qp, const struct rnic_provider *p, struct rnic *r,
		  const struct rnic_qp_options *o, const struct rnic_qp_ops *ops, void *owner)
{
	qp->provider = p;
	qp->rnic = r;
	qp->ops = ops;
	qp->owner = owner;
	qp->send_depth = o->send_depth ? o->send_depth : 128;
	if (r && qp->send_depth > r->limits.max_send_wr)
		qp->send_depth = r->limits.max_send_wr;
	qp->reads_out = o->reads_out;
	qp->reads_in = o->reads_in;
	list_init(&qp->waiting);
	list_init(&qp->waiting_reads);
	list_init(&qp->late);
	list_init(&qp->cancel.link);
}

static bool is_inside(const struct rnic_sge *s)
{
	const struct rnic_mr *mr = s->mr;

	if (!mr || s->addr < mr->addr)
		return false;
	uint64_t offset = (uint64_t)(s->addr - mr->addr);
	return offset <= mr->len && s->len <= mr->len - offset;
}

static int check(const struct rnic_qp *qp, struct rnic_wr *wr)
{
	const struct rnic_limits *l = &qp->rnic->limits;
	uint32_t most = wr->opcode == RNIC_READ ? l->max_read_sge : l->max_sge;

	if (wr->nsge > most)
		return -EINVAL;
	wr->bytes = 0;
	for (uint32_t i = 0; i < wr->nsge; i++) {
		if (!is_inside(&wr->sge[i]))
			return -EINVAL;
		wr->bytes += wr->sge[i].len;
	}
	return wr->bytes > l->max_message ? -EINVAL : 0;
}

static bool has_room(const struct rnic_qp *qp)
{
	return qp->posted < qp->send_depth;
}

// A part of the depth is for other requests: a peer that answers no read still gets its responses.
static bool has_room_for_read(const struct rnic_qp *qp)
{
	uint32_t most = qp->send_depth - qp->send_depth / 4;

	return has_room(qp) && qp->reads_posted < (qp->reads_out < most ? qp->reads_out : most);
}

static void post_now(struct rnic_qp *qp, struct rnic_wr *wr)
{
	qp->posted++;
	qp->reads_posted += wr->opcode == RNIC_READ;
	qp->provider->post(qp, wr);
}

static bool has_reads(const struct rnic_qp *qp)
{
	return qp->reads_posted || !list_empty(&qp->waiting_reads);
}

// Reads first: they were posted before the requests that they delay.
static void post_waiting(struct rnic_qp *qp)
{
	while (has_room_for_read(qp) && !list_empty(&qp->waiting_reads))
		post_now(qp, list_entry(list_pop_front(&qp->waiting_reads), struct rnic_wr, link));
	while (has_room(qp) && !list_empty(&qp->waiting)) {
		struct rnic_wr *wr = list_entry(list_first(&qp->waiting), struct rnic_wr, link);
		if (wr->flags & RNIC_FENCE && has_reads(qp))
			return;
		list_pop_front(&qp->waiting);
		if (wr->opcode == RNIC_READ && !has_room_for_read(qp))
			list_push_back(&qp->waiting_reads, &wr->link);
		else
			post_now(qp, wr);
	}
}

static void cancel_all(struct list *l)
{
	for (struct list *n; (n = list_pop_front(l));) {
		struct rnic_wr *wr = list_entry(n, struct rnic_wr, link);
		wr->done(wr, -ECANCELED);
	}
}

// While the queue pair lingers, earlier requests end first.
static void cancel_run(struct defer *d)
{
	struct rnic_qp *qp = container_of(d, struct rnic_qp, cancel);

	if (!qp->is_lingering)
		cancel_all(&qp->late);
}

int rnic_post(struct rnic_qp *qp, struct rnic_wr *wr)
{
	int r = check(qp, wr);

	if (r < 0)
		return r;
	wr->qp = qp;
	if (!qp->is_established || qp->is_closing) {
		list_push_back(&qp->late, &wr->link);
		worker_defer(qp->rnic->worker, &qp->cancel, cancel_run);
	} else if (!list_empty(&qp->waiting) || !has_room(qp) ||
		   (wr->flags & RNIC_FENCE && has_reads(qp))) {
		list_push_back(&qp->waiting, &wr->link);
	} else if (wr->opcode == RNIC_READ && !has_room_for_read(qp)) {
		list_push_back(&qp->waiting_reads, &wr->link);
	} else {
		post_now(qp, wr);
	}
	return 0;
}

void rnic_count_error(struct rnic *r)
{
	counter_add(&worker_counters(r->worker)->rdma_errors, 1);
}

void rnic_wr_done(struct rnic_wr *wr, int res)
{
	struct rnic_qp *qp = wr->qp;

	if (res < 0 && res != -ECANCELED)
		rnic_count_error(qp->rnic);
	qp->posted--;
	qp->reads_posted -= wr->opcode == RNIC_READ;
	wr->done(wr, res);
	if (qp->is_established && (!qp->is_closing || qp->is_lingering))
		post_waiting(qp);
}

void rnic_qp_flush_waiting(struct rnic_qp *qp)
{
	cancel_all(&qp->waiting_reads);
	cancel_all(&qp->waiting);
	cancel_all(&qp->late);
}

// A fenced request, and those after it, must not be sent before the earlier reads are done.
void rnic_qp_linger(struct rnic_qp *qp)
{
	bool had_reads = has_reads(qp), is_lost = false;

	qp->is_closing = qp->is_lingering = true;
	list_splice_back(&qp->late, &qp->waiting_reads);
	list_for_each_safe (it, &qp->waiting) {
		struct rnic_wr *wr = list_entry(it, struct rnic_wr, link);
		had_reads |= wr->opcode == RNIC_READ;
		is_lost |= had_reads && wr->flags & RNIC_FENCE;
		if (!is_lost && wr->opcode != RNIC_READ)
			continue;
		list_remove(it);
		list_push_back(&qp->late, it);
	}
}

// --- implemented by the provider ---

void rnic_flush(struct rnic_qp *qp)
{
	qp->provider->flush(qp);
}

int rnic_listen(const struct rnic_provider *p, struct rnic_listener **ret, struct worker *w,
		const struct tcp_addr *addr, const struct rnic_listener_ops *ops, void *arg,
		struct err *e)
{
	return p->listen(ret, w, addr, ops, arg, e);
}

int rnic_listen_service(const struct rnic_provider *p, struct rnic_listener **ret, struct worker *w,
			uint16_t port, const struct rnic_listener_ops *ops, void *arg,
			struct err *e)
{
	return p->listen_service(ret, w, port, ops, arg, e);
}

uint64_t rnic_service_id(uint16_t port)
{
	return UINT64_C(0x00000000013f0000) | port;
}

const struct tcp_addr *rnic_listener_addr(const struct rnic_listener *l)
{
	return l->provider->listener_addr(l);
}

void rnic_listener_free(struct rnic_listener *l)
{
	if (l)
		l->provider->listener_free(l);
}

int rnic_accept(struct rnic_request *q, struct rnic_qp **ret, const struct rnic_qp_options *o,
		const struct rnic_qp_ops *ops, void *owner, struct err *e)
{
	return q->provider->accept(q, ret, o, ops, owner, e);
}

void rnic_reject(struct rnic_request *q, const void *private_data, uint32_t len)
{
	q->provider->reject(q, private_data, len);
}

int rnic_connect(const struct rnic_provider *p, struct rnic_qp **ret, struct worker *w,
		 const struct tcp_addr *peer, const struct tcp_addr *local,
		 const struct rnic_qp_options *o, const struct rnic_qp_ops *ops, void *owner,
		 struct err *e)
{
	return p->connect(ret, w, peer, local, o, ops, owner, e);
}

void rnic_close(struct rnic_qp *qp, bool linger, const struct err *why)
{
	qp->provider->close(qp, linger, why);
}

void rnic_qp_free(struct rnic_qp *qp)
{
	if (!qp)
		return;
	worker_defer_cancel(&qp->cancel);
	qp->provider->qp_free(qp);
}

int rnic_reserve(struct rnic *r, uint32_t count)
{
	return r->provider->reserve(r, count);
}

void rnic_unreserve(struct rnic *r, uint32_t count)
{
	r->provider->unreserve(r, count);
}

void rnic_rx_limit(struct rnic *r, uint32_t buffers)
{
	r->provider->rx_limit(r, buffers);
}

void rnic_rx_put(struct rnic_rx *rx)
{
	rx->rnic->provider->rx_put(rx);
}

int rnic_register(struct rnic *r, struct rnic_mr **ret, void *addr, uint64_t len, unsigned access,
		  struct err *e)
{
	return r->provider->register_mr(r, ret, addr, len, access, e);
}

void rnic_deregister(struct rnic_mr *mr)
{
	if (mr)
		mr->rnic->provider->deregister_mr(mr);
}

struct rnic_mr *rnic_find(struct rnic *r, const void *addr, uint64_t len)
{
	return r->provider->find(r, addr, len);
}

void rnic_each_mr(struct rnic *r, bool (*fn)(const struct rnic_mr *mr, void *arg), void *arg)
{
	r->provider->each_mr(r, fn, arg);
}

static bool count_rights(const struct rnic_mr *mr, void *arg)
{
	*(unsigned *)arg += mr->access != 0;
	return true;
}

unsigned rnic_remote_rights(struct rnic *r)
{
	unsigned ret = 0;
	rnic_each_mr(r, count_rights, &ret);
	return ret;
}

int rnic_expose(struct rnic_qp *qp, struct rnic_exposed *ret, const struct sg *sg, uint32_t nsg,
		uint64_t len, unsigned access)
{
	return qp->provider->expose(qp, ret, sg, nsg, len, access);
}

void rnic_conceal(struct rnic_qp *qp, struct rnic_exposed *x)
{
	qp->provider->conceal(qp, x);
}
