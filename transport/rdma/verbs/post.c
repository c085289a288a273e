// SPDX-License-Identifier: BSD-2-Clause
// Requests and completions of queue pairs, on their worker's thread. All requests that a round
// posts to a queue pair are submitted with one doorbell at its end.
//
// Reads are always signaled, since they may complete after later requests (RFC 5040; IBTA
// completes them in order, which is allowed). Other requests are signaled if they ask for it, and
// often enough that the send queue does not fill up with finished unsignaled requests: the
// completion of one implies that of all earlier ones, except over siw.
#include <errno.h>
#include <stdlib.h>

#include "transport/rdma/verbs/priv.h"

// --- queue pairs ---

int verbs_qp_create(struct verbs_conn *c, struct err *e)
{
	struct verbs_rnic *r = c->r;
	struct verbs_cq *receive = list_entry(list_first(&r->receives.all), struct verbs_cq, link);

	for (unsigned depth = c->qp.send_depth; depth; depth /= 2) {
		c->cq_places = depth + 1; // and a marker
		c->cq = verbs_cq_reserve(r, c->cq_places, e);
		if (!c->cq)
			return -ENOMEM;
		struct ibv_qp_init_attr a = {
			.qp_context = c,
			.send_cq = c->cq->cq,
			.recv_cq = receive->cq,
			.srq = r->srq,
			.qp_type = IBV_QPT_RC,
			.cap = {.max_send_wr = depth + 1,
				 .max_send_sge = r->head.limits.max_sge,
				 .max_recv_sge = 1,
				 .max_inline_data = r->head.limits.max_inline},
		};
		if (rdma_create_qp(c->id, r->device->pd, &a) == 0) {
			c->qp.send_depth = depth;
			c->signal_every = depth > 1 ? depth / 2 : 1;
			if (verbs_qpn_add(r, c) == 0)
				return 0;
			rdma_destroy_qp(c->id);
			errno = ENOMEM;
			depth = 0;
		}
		c->cq->used -= c->cq_places;
		c->cq = NULL;
		if (errno != ENOMEM && errno != EINVAL) // deep queues may be too large
			break;
	}
	return err_errno(e, -errno, "%s: queue pair", r->device->name);
}

// Waits until the device has finished with it. Remaining completions are dropped now, since their
// places in the queue are reused.
void verbs_qp_destroy(struct verbs_conn *c)
{
	verbs_qpn_remove(c->r, c);
	rdma_destroy_qp(c->id);
	verbs_rnic_drain(c->r);
	c->cq->used -= c->cq_places;
	c->cq = NULL;
}

// --- posting ---

static const struct {
	enum ibv_wr_opcode opcode;
	bool has_remote;
} opcodes[] = {
	[RNIC_SEND] = {IBV_WR_SEND,	     false},
	[RNIC_SEND_INVALIDATE] = { IBV_WR_SEND_WITH_INV, false},
	[RNIC_WRITE] = { IBV_WR_RDMA_WRITE,    true },
	[RNIC_READ] = { IBV_WR_RDMA_READ,	  true },
};

static bool wants_completion(struct verbs_conn *c, const struct rnic_wr *wr)
{
	if (wr->opcode == RNIC_READ || c->r->device->signals_all)
		return true;
	if (wr->flags & (RNIC_SIGNALED | RNIC_LAZY) || ++c->unsignaled >= c->signal_every) {
		c->unsignaled = 0;
		return true;
	}
	return false;
}

// Progress of a request, in its scratch[0]. It is awaited if it is a read or signaled, or if the
// queue is full: then others may wait in software.
enum { WR_PENDING, WR_POSTED, WR_AWAITED };

static void count_posted(struct verbs_conn *c, struct rnic_wr *wr)
{
	bool is_full = c->qp.posted >= c->qp.send_depth;
	bool is_awaited = is_full || wr->opcode == RNIC_READ || wr->flags & RNIC_SIGNALED;

	wr->scratch[0] = is_awaited ? WR_AWAITED : WR_POSTED;
	c->r->posted++;
	c->r->awaited += is_awaited;
}

static void count_ended(struct verbs_conn *c, struct rnic_wr *wr)
{
	if (wr->scratch[0] == WR_PENDING)
		return;
	c->r->posted--;
	c->r->awaited -= wr->scratch[0] == WR_AWAITED;
	wr->scratch[0] = WR_PENDING;
}

static void end(struct verbs_conn *c, struct rnic_wr *wr, int code)
{
	count_ended(c, wr);
	rnic_wr_done(wr, code);
}

static void fill(struct verbs_conn *c, struct ibv_send_wr *to, struct ibv_sge *sge,
		 const struct rnic_wr *wr)
{
	*to = (struct ibv_send_wr){ .wr_id = (uintptr_t)wr,
				    .sg_list = sge,
				    .num_sge = (int)wr->nsge,
				    .opcode = opcodes[wr->opcode].opcode };
	for (uint32_t i = 0; i < wr->nsge; i++)
		sge[i] = (struct ibv_sge){ .addr = (uintptr_t)wr->sge[i].addr,
					   .length = wr->sge[i].len,
					   .lkey = wr->sge[i].mr->lkey };
	if (opcodes[wr->opcode].has_remote) {
		to->wr.rdma.remote_addr = wr->remote_addr;
		to->wr.rdma.rkey = wr->rkey;
	} else if (wr->opcode == RNIC_SEND_INVALIDATE) {
		to->invalidate_rkey = wr->rkey;
	}
	if (wants_completion(c, wr))
		to->send_flags |= IBV_SEND_SIGNALED;
	if (wr->flags & RNIC_SOLICITED)
		to->send_flags |= IBV_SEND_SOLICITED;
	if (wr->opcode != RNIC_READ && wr->bytes && wr->bytes <= c->qp.rnic->limits.max_inline)
		to->send_flags |= IBV_SEND_INLINE;
}

// Requests that the device did not accept are pending again, and cancelled at the end of the
// connection.
static void take_back(struct verbs_conn *c, const struct ibv_send_wr *from, unsigned count)
{
	for (unsigned i = count; i--;) {
		struct rnic_wr *wr = (struct rnic_wr *)(uintptr_t)from[i].wr_id;
		list_remove(&wr->link);
		list_push_front(&c->pending, &wr->link);
		count_ended(c, wr);
	}
}

// The completion of a request implies that of all before it except reads: of requests posted
// together, the last signaled one is enough.
static void signal_last(struct ibv_send_wr *wrs, unsigned count)
{
	bool has_one = false;

	for (unsigned i = count; i--;) {
		if (wrs[i].opcode == IBV_WR_RDMA_READ || !(wrs[i].send_flags & IBV_SEND_SIGNALED))
			continue;
		if (has_one)
			wrs[i].send_flags &= ~(unsigned)IBV_SEND_SIGNALED;
		has_one = true;
	}
}

static bool post_chain(struct verbs_conn *c)
{
	struct verbs_rnic *r = c->r;
	struct ibv_send_wr *bad = NULL;
	unsigned n = 0, nsge = 0;

	while (n < VERBS_CHAIN && !list_empty(&c->pending)) {
		struct rnic_wr *wr = list_entry(list_pop_front(&c->pending), struct rnic_wr, link);
		list_push_back(wr->opcode == RNIC_READ ? &c->reads : &c->others, &wr->link);
		fill(c, &r->wrs[n], &r->sges[nsge], wr);
		count_posted(c, wr);
		if (n)
			r->wrs[n - 1].next = &r->wrs[n];
		if (wr->opcode != RNIC_READ)
			c->qp.bytes_out += wr->bytes;
		nsge += wr->nsge;
		n++;
	}
	if (!r->device->signals_all)
		signal_last(r->wrs, n);
	verbs_look_later(r);
	int error = ibv_post_send(c->id->qp, r->wrs, &bad);
	if (!error)
		return true;
	unsigned first = bad ? (unsigned)(bad - r->wrs) : 0;
	take_back(c, &r->wrs[first], n - first);
	verbs_conn_fail(c, -EIO, "post: request refused by the device: %s", strerror(error));
	return false;
}

void verbs_flush(struct rnic_qp *qp)
{
	struct verbs_conn *c = verbs_conn_of(qp);

	if (c->is_mute || c->state != VERBS_STANDS || (qp->is_closing && !qp->is_lingering))
		return;
	while (!list_empty(&c->pending) && post_chain(c))
		;
}

static void flush_run(struct defer *d)
{
	verbs_flush(&container_of(d, struct verbs_conn, flush)->qp);
}

void verbs_post(struct rnic_qp *qp, struct rnic_wr *wr)
{
	struct verbs_conn *c = verbs_conn_of(qp);

	wr->scratch[0] = WR_PENDING;
	list_push_back(&c->pending, &wr->link);
	worker_defer(qp->rnic->worker, &c->flush, flush_run);
}

// A write of no bytes has no effect, but its completion implies that of all before it.
void verbs_mark(struct verbs_conn *c)
{
	struct ibv_send_wr wr = { .wr_id = VERBS_WR_MARKER,
				  .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;

	if (c->is_marking || !c->unsignaled || list_empty(&c->others))
		return;
	c->is_marking = ibv_post_send(c->id->qp, &wr, &bad) == 0;
	c->unsignaled = 0;
}

// --- completions ---

static void received(struct verbs_conn *c, struct verbs_rx *rx, const struct ibv_wc *wc)
{
	verbs_rx_taken(rx);
	if (wc->status != IBV_WC_SUCCESS && wc->status != IBV_WC_WR_FLUSH_ERR)
		rnic_count_error(rx->head.rnic);
	if (!c || wc->status != IBV_WC_SUCCESS || c->qp.is_closing) {
		verbs_rx_put(&rx->head);
		if (c && wc->status != IBV_WC_SUCCESS)
			verbs_conn_fail(c, -EPROTO, "receive: %s",
					verbs_wc_status(wc->status).text);
		return;
	}
	rx->head.len = wc->byte_len;
	rx->head.is_invalidated = wc->wc_flags & IBV_WC_WITH_INV;
	rx->head.invalidated_rkey = rx->head.is_invalidated ? wc->invalidated_rkey : 0;
	worker_note_traffic(c->vw->worker);
	verbs_conn_arrived(c, rx);
}

// Ends the requests before wr, and wr (NULL: all).
static void end_others(struct verbs_conn *c, const struct rnic_wr *wr, int code)
{
	for (struct list *n; (n = list_pop_front(&c->others));) {
		struct rnic_wr *o = list_entry(n, struct rnic_wr, link);
		end(c, o, o == wr ? code : 0);
		if (o == wr)
			return;
	}
}

static void sent(struct verbs_conn *c, uint64_t wr_id, int code)
{
	struct rnic_wr *wr = (struct rnic_wr *)(uintptr_t)wr_id;

	if (wr_id == VERBS_WR_MARKER) {
		c->is_marking = false;
		end_others(c, NULL, 0);
	} else if (wr->opcode == RNIC_READ) {
		list_remove(&wr->link);
		if (code == 0)
			c->qp.bytes_in += wr->bytes;
		end(c, wr, code);
	} else {
		end_others(c, wr, code);
	}
}

// The first failure has the reason; later requests are flushed. The opcode of a failed completion
// is undefined, so the request determines it.
void verbs_completed(struct verbs_rnic *r, const struct ibv_wc *wc)
{
	struct verbs_conn *c = verbs_qpn_find(r, wc->qp_num);

	if (wc->wr_id & VERBS_WR_RX) {
		received(c, (struct verbs_rx *)(uintptr_t)(wc->wr_id & ~VERBS_WR_RX), wc);
		return;
	}
	if (!c)
		return;
	struct verbs_status s = verbs_wc_status(wc->status);
	if (s.code && s.code != -ECANCELED)
		verbs_conn_fail(c, s.code, "%s", s.text);
	sent(c, wc->wr_id, s.code);
	verbs_conn_progress(c);
}

static void cancel_list(struct verbs_conn *c, struct list *l)
{
	for (struct list *n; (n = list_pop_front(l));)
		end(c, list_entry(n, struct rnic_wr, link), -ECANCELED);
}

void verbs_cancel(struct verbs_conn *c)
{
	cancel_list(c, &c->reads);
	cancel_list(c, &c->others);
	cancel_list(c, &c->pending);
}
