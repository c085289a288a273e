// SPDX-License-Identifier: BSD-2-Clause
// A worker's share of a device, on its thread: completion queues, polled once a round and armed
// only before the worker sleeps; which connection a queue pair number belongs to.
//
// It is made with the first connection and goes, at the end of a round, with the last thing that
// needs it. Making it blocks for some system calls, about a millisecond.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "transport/rdma/verbs/priv.h"

#define POLL_PASSES 4	// batches of one queue in a row, so that others get their turn
#define ACK_BATCH   128 // events acknowledged at once: each time is a mutex
#define QPN_PLACES  64

// --- completion queues ---

static int cq_new(struct verbs_rnic *r, struct verbs_cq **ret, unsigned size, struct err *e)
{
	struct verbs_device *d = r->device;
	struct verbs_cq *q = calloc(1, sizeof *q);

	if (!q)
		return err_set(e, -ENOMEM, "%s: completion queue: out of memory", d->name);
	if (d->cqe_max > 0 && size > (unsigned)d->cqe_max)
		size = (unsigned)d->cqe_max;
	q->cq = ibv_create_cq(d->context, (int)size, NULL, r->channel, 0);
	if (!q->cq) {
		int error = errno;
		free(q);
		return err_errno(e, -error, "%s: completion queue of %u", d->name, size);
	}
	q->size = (unsigned)q->cq->cqe;
	list_push_back(&r->cqs, &q->link);
	r->is_armed = false;
	*ret = q;
	return 0;
}

// An overrun is fatal: each queue pair has places for all it can have under way.
struct verbs_cq *verbs_cq_reserve(struct verbs_rnic *r, unsigned places, struct err *e)
{
	struct verbs_cq *q = NULL;

	list_for_each (it, &r->cqs) {
		q = list_entry(it, struct verbs_cq, link);
		if (q->size - q->used >= places)
			goto found;
	}
	if (cq_new(r, &q, places > VERBS_CQ_SIZE ? places : VERBS_CQ_SIZE, e) < 0)
		return NULL;
	if (q->size < places) {
		err_set(e, -ENOMEM, "%s: completion queues are too small for %u requests",
			r->device->name, places);
		return NULL;
	}
found:
	q->used += places;
	return q;
}

static bool cq_poll(struct verbs_rnic *r, struct verbs_cq *q)
{
	struct ibv_wc wc[VERBS_BATCH];
	bool had_some = false;

	for (int pass = 0; pass < POLL_PASSES; pass++) {
		int n = ibv_poll_cq(q->cq, VERBS_BATCH, wc);
		for (int i = 0; i < n; i++)
			verbs_completed(r, &wc[i]);
		had_some |= n > 0;
		if (n < VERBS_BATCH)
			break;
	}
	return had_some;
}

static bool cqs_poll(struct verbs_rnic *r)
{
	bool had_some = false;

	list_for_each (it, &r->cqs)
		had_some |= cq_poll(r, list_entry(it, struct verbs_cq, link));
	return had_some;
}

void verbs_rnic_drain(struct verbs_rnic *r)
{
	cqs_poll(r);
}

static bool rnic_poll(struct poller *p)
{
	return cqs_poll(container_of(p, struct verbs_rnic, poller));
}

// What completed before the queue was armed makes no event, so look once more.
static bool rnic_arm(struct poller *p)
{
	struct verbs_rnic *r = container_of(p, struct verbs_rnic, poller);

	if (!r->is_armed)
		list_for_each (it, &r->cqs)
			ibv_req_notify_cq(list_entry(it, struct verbs_cq, link)->cq, 0);
	r->is_armed = true;
	return cqs_poll(r);
}

static void channel_ack(struct verbs_rnic *r, struct ibv_cq *cq)
{
	if (r->unacked)
		ibv_ack_cq_events(cq, r->unacked);
	r->unacked = 0;
}

// The completions themselves are polled in this same round. An event disarms its queue only;
// arming the others once more costs little. No more events are read than there are queues: with one
// queue no second system call finds that there is none, and what is left wakes again.
static void channel_ready(struct watch *wa, uint32_t events)
{
	struct verbs_rnic *r = container_of(wa, struct verbs_rnic, channel_watch);
	struct ibv_cq *cq, *last = NULL;
	void *context;

	list_for_each (it, &r->cqs) {
		if (ibv_get_cq_event(r->channel, &cq, &context) != 0)
			break;
		if (last && (cq != last || r->unacked >= ACK_BATCH))
			channel_ack(r, last);
		last = cq;
		r->unacked++;
		r->is_armed = false;
	}
	if (last)
		channel_ack(r, last);
}

// --- queue pair numbers ---

static uint32_t qpn_place(const struct verbs_rnic *r, uint32_t qpn)
{
	return qpn * 2654435761u >> 7 & r->mask;
}

struct verbs_conn *verbs_qpn_find(const struct verbs_rnic *r, uint32_t qpn)
{
	for (uint32_t i = qpn_place(r, qpn); r->by_qpn[i]; i = (i + 1) & r->mask)
		if (r->by_qpn[i]->id->qp->qp_num == qpn)
			return r->by_qpn[i];
	return NULL;
}

static void qpn_put(struct verbs_rnic *r, struct verbs_conn *c)
{
	uint32_t i = qpn_place(r, c->id->qp->qp_num);

	while (r->by_qpn[i])
		i = (i + 1) & r->mask;
	r->by_qpn[i] = c;
}

int verbs_qpn_add(struct verbs_rnic *r, struct verbs_conn *c)
{
	if ((r->qpn_count + 1) * 2 > r->mask) {
		uint32_t places = (r->mask + 1) * 2;
		struct verbs_conn **old = r->by_qpn;
		struct verbs_conn **new = calloc(places, sizeof *new);
		if (!new)
			return -ENOMEM;
		r->by_qpn = new;
		r->mask = places - 1;
		for (uint32_t i = 0; i < places / 2; i++)
			if (old[i])
				qpn_put(r, old[i]);
		free(old);
	}
	qpn_put(r, c);
	r->qpn_count++;
	return 0;
}

void verbs_qpn_remove(struct verbs_rnic *r, struct verbs_conn *c)
{
	uint32_t i = qpn_place(r, c->id->qp->qp_num);

	while (r->by_qpn[i] != c)
		i = (i + 1) & r->mask;
	r->by_qpn[i] = NULL;
	r->qpn_count--;
	// Those behind it may have been pushed on by it.
	for (i = (i + 1) & r->mask; r->by_qpn[i]; i = (i + 1) & r->mask) {
		struct verbs_conn *moved = r->by_qpn[i];
		r->by_qpn[i] = NULL;
		qpn_put(r, moved);
	}
}

// --- life ---

static void rnic_free(struct verbs_rnic *r)
{
	poller_remove(&r->poller);
	verbs_async_done(r);
	verbs_rx_done(r);
	while (!list_empty(&r->cqs)) {
		struct verbs_cq *q = list_entry(list_pop_front(&r->cqs), struct verbs_cq, link);
		ibv_destroy_cq(q->cq);
		free(q);
	}
	if (r->channel) {
		watch_remove(r->head.worker, &r->channel_watch);
		ibv_destroy_comp_channel(r->channel);
	}
	list_remove(&r->link);
	free(r->by_qpn);
	verbs_device_put(r->device);
	// The context of a removed device had to stay until here.
	while (!list_empty(&r->parked)) {
		struct verbs_conn *c =
			list_entry(list_pop_front(&r->parked), struct verbs_conn, link);
		rdma_destroy_id(c->id);
		verbs_worker_put(c->vw);
		verbs_async_gone(c);
	}
	verbs_worker_put(r->vw);
	if (r->is_port_msg_posted)
		r->device = NULL; // async.c frees it
	else
		free(r);
}

static void release_run(struct defer *d)
{
	struct verbs_rnic *r = container_of(d, struct verbs_rnic, release);

	if (!r->refs && !r->rx_reserved && !r->rx_handed)
		rnic_free(r);
}

void verbs_rnic_check(struct verbs_rnic *r)
{
	if (!r->refs && !r->rx_reserved && !r->rx_handed)
		worker_defer(r->head.worker, &r->release, release_run);
}

void verbs_rnic_put(struct verbs_rnic *r)
{
	r->refs--;
	verbs_rnic_check(r);
}

static int rnic_open(struct verbs_rnic *r, struct err *e)
{
	struct verbs_device *d = r->device;
	struct verbs_cq *first;

	r->channel = ibv_create_comp_channel(d->context);
	if (!r->channel)
		return err_errno(e, -errno, "%s: completion channel", d->name);
	fcntl(r->channel->fd, F_SETFL, fcntl(r->channel->fd, F_GETFL) | O_NONBLOCK);
	r->channel_watch.fn = channel_ready;
	int n = watch_add(r->head.worker, &r->channel_watch, r->channel->fd, EPOLLIN);
	if (n < 0)
		return err_errno(e, n, "%s: completion channel: watch", d->name);
	r->mask = QPN_PLACES - 1;
	r->by_qpn = calloc(QPN_PLACES, sizeof(struct verbs_conn *));
	if (!r->by_qpn)
		return err_set(e, -ENOMEM, "%s: out of memory", d->name);
	n = verbs_rx_init(r, e);
	// What is received completes on the first queue.
	if (n == 0)
		n = cq_new(r, &first, r->srq_size + VERBS_CQ_SIZE / 2, e);
	if (n == 0)
		first->used = r->srq_size;
	if (n == 0)
		n = verbs_async_init(r, e);
	return n;
}

int verbs_rnic_get(struct verbs_rnic **ret, struct verbs_worker *vw, struct verbs_device *d,
		   struct err *e)
{
	list_for_each (it, &vw->rnics) {
		*ret = list_entry(it, struct verbs_rnic, link);
		if ((*ret)->device == d) {
			(*ret)->refs++;
			return 0;
		}
	}
	struct verbs_rnic *r = calloc(1, sizeof *r);
	struct verbs_device *held;
	if (!r)
		return err_set(e, -ENOMEM, "%s: out of memory", d->name);
	r->head = (struct rnic){
		.provider = &rnic_verbs, .worker = vw->worker, .limits = d->limits, .name = d->name
	};
	r->channel_watch.fd = r->async_watch.fd = -1;
	r->poller.poll = rnic_poll;
	r->poller.arm = rnic_arm;
	list_init(&r->cqs);
	list_init(&r->conns);
	list_init(&r->parked);
	list_init(&r->slabs);
	list_init(&r->idle);
	verbs_worker_get(&r->vw, vw->worker, NULL); // one more of what is there cannot fail
	verbs_device_get(&held, d->context, NULL);
	r->device = d;
	list_push_back(&vw->rnics, &r->link);
	poller_add(vw->worker, &r->poller);
	int n = rnic_open(r, e);
	if (n < 0) {
		rnic_free(r);
		return n;
	}
	r->refs = 1;
	*ret = r;
	return 0;
}
