// SPDX-License-Identifier: BSD-2-Clause
// Completion queues of a worker's share of a device, on its thread: polled once a round, armed only
// before the worker sleeps.
//
// Receives and posted requests complete on separate queues, because different events wake
// the worker: every receive, but only awaited requests (post.c). The others, above all a target's
// responses, complete in the next round, or when the worker has slept for VERBS_LAZY_USEC.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "transport/rdma/verbs/priv.h"

#define ACK_BATCH 128 // events acknowledged at once: each call takes a mutex

static int cq_new(struct verbs_cqs *s, struct verbs_cq **ret, unsigned size, struct err *e)
{
	struct verbs_device *d = s->r->device;
	struct verbs_cq *q = calloc(1, sizeof *q);

	if (!q)
		return err_set(e, -ENOMEM, "%s: completion queue: out of memory", d->name);
	if (d->cqe_max > 0 && size > (unsigned)d->cqe_max)
		size = (unsigned)d->cqe_max;
	q->cq = ibv_create_cq(d->context, (int)size, NULL, s->channel, 0);
	if (!q->cq) {
		int error = errno;
		free(q);
		return err_errno(e, -error, "%s: completion queue of %u", d->name, size);
	}
	q->size = (unsigned)q->cq->cqe;
	list_push_back(&s->all, &q->link);
	s->is_armed = false;
	*ret = q;
	return 0;
}

// An overrun is fatal: each queue pair has places for all requests that it can have in flight.
struct verbs_cq *verbs_cq_reserve(struct verbs_rnic *r, unsigned places, struct err *e)
{
	struct verbs_cq *q = NULL;

	list_for_each (it, &r->sends.all) {
		q = list_entry(it, struct verbs_cq, link);
		if (q->size - q->used >= places)
			goto found;
	}
	if (cq_new(&r->sends, &q, places > VERBS_CQ_SIZE ? places : VERBS_CQ_SIZE, e) < 0)
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

// --- polling ---

// Handles at most this many completions; returns how many there were.
static unsigned cq_poll(struct verbs_rnic *r, struct verbs_cq *q, unsigned most)
{
	struct ibv_wc wc[VERBS_BATCH];
	unsigned count = 0;

	while (count < most) {
		unsigned room = most - count < VERBS_BATCH ? most - count : VERBS_BATCH;
		int n = ibv_poll_cq(q->cq, (int)room, wc);
		for (int i = 0; i < n; i++)
			verbs_completed(r, &wc[i]);
		if (n > 0)
			count += (unsigned)n;
		if (n < (int)room)
			break;
	}
	return count;
}

static bool cqs_poll(struct verbs_cqs *s, unsigned most)
{
	unsigned count = 0;

	list_for_each (it, &s->all) {
		struct verbs_cq *q = list_entry(it, struct verbs_cq, link);
		count += cq_poll(s->r, q, most < q->size ? most : q->size);
	}
	return count > 0;
}

// At most this many of each queue. Requests first: received messages may need what they held.
static bool poll_all(struct verbs_rnic *r, unsigned most)
{
	bool had_sends = cqs_poll(&r->sends, most), had_receives = cqs_poll(&r->receives, most);

	if (had_sends) {
		r->is_overdue = false;
		if (r->posted)
			verbs_look_later(r);
	}
	return had_sends || had_receives;
}

// All that is there: of a queue pair that is gone, nothing may be left for the next one with its
// number. Not endlessly what is added meanwhile: at most a full queue.
void verbs_rnic_drain(struct verbs_rnic *r)
{
	poll_all(r, UINT_MAX);
}

static bool rnic_poll(struct poller *p)
{
	return poll_all(container_of(p, struct verbs_rnic, poller), VERBS_ROUND);
}

// --- waking ---

static void cqs_arm(struct verbs_cqs *s)
{
	if (!s->is_armed)
		list_for_each (it, &s->all)
			ibv_req_notify_cq(list_entry(it, struct verbs_cq, link)->cq, 0);
	s->is_armed = true;
}

// Completions from before the queue was armed raise no event, so poll again.
static bool rnic_arm(struct poller *p)
{
	struct verbs_rnic *r = container_of(p, struct verbs_rnic, poller);

	cqs_arm(&r->receives);
	if (r->posted && (r->awaited || r->is_overdue))
		cqs_arm(&r->sends);
	return poll_all(r, VERBS_ROUND);
}

// The round polls; completions left at its end wake the worker.
static void overdue_run(struct timer *t)
{
	struct verbs_rnic *r = container_of(t, struct verbs_rnic, overdue);

	r->is_overdue = r->posted > 0;
}

// This does not happen while there is traffic.
void verbs_look_later(struct verbs_rnic *r)
{
	timer_arm(r->head.worker, &r->overdue, VERBS_LAZY_USEC);
}

static void cqs_ack(struct verbs_cqs *s, struct ibv_cq *cq)
{
	if (s->unacked)
		ibv_ack_cq_events(cq, s->unacked);
	s->unacked = 0;
}

// The completions are polled in the same round. An event disarms its queue only; arming the others
// again costs little. At most one event per queue is read, so that with one queue no second system
// call is needed; remaining events wake the worker again.
static void channel_ready(struct watch *wa, uint32_t events)
{
	struct verbs_cqs *s = container_of(wa, struct verbs_cqs, watch);
	struct ibv_cq *cq, *last = NULL;
	void *context;

	list_for_each (it, &s->all) {
		if (ibv_get_cq_event(s->channel, &cq, &context) != 0)
			break;
		if (last && (cq != last || s->unacked >= ACK_BATCH))
			cqs_ack(s, last);
		last = cq;
		s->unacked++;
		s->is_armed = false;
	}
	if (last)
		cqs_ack(s, last);
}

// --- life ---

static void cqs_init(struct verbs_cqs *s, struct verbs_rnic *r)
{
	s->r = r;
	s->watch.fd = -1;
	s->watch.fn = channel_ready;
	list_init(&s->all);
}

void verbs_cqs_init(struct verbs_rnic *r)
{
	cqs_init(&r->receives, r);
	cqs_init(&r->sends, r);
	timer_init(&r->overdue, overdue_run);
	r->poller.poll = rnic_poll;
	r->poller.arm = rnic_arm;
}

static int cqs_open(struct verbs_cqs *s, struct err *e)
{
	const char *name = s->r->device->name;

	s->channel = ibv_create_comp_channel(s->r->device->context);
	if (!s->channel)
		return err_errno(e, -errno, "%s: completion channel", name);
	fcntl(s->channel->fd, F_SETFL, fcntl(s->channel->fd, F_GETFL) | O_NONBLOCK);
	int n = watch_add(s->r->head.worker, &s->watch, s->channel->fd, EPOLLIN);
	if (n < 0)
		return err_errno(e, n, "%s: completion channel: watch", name);
	return 0;
}

int verbs_cqs_open(struct verbs_rnic *r, struct err *e)
{
	struct verbs_cq *q;
	int n = cqs_open(&r->receives, e);

	if (n == 0)
		n = cqs_open(&r->sends, e);
	if (n == 0)
		n = cq_new(&r->receives, &q, r->srq_size, e);
	if (n == 0)
		poller_add(r->head.worker, &r->poller);
	return n;
}

static void cqs_done(struct verbs_cqs *s)
{
	while (!list_empty(&s->all)) {
		struct verbs_cq *q = list_entry(list_pop_front(&s->all), struct verbs_cq, link);
		ibv_destroy_cq(q->cq);
		free(q);
	}
	if (!s->channel)
		return;
	watch_remove(s->r->head.worker, &s->watch);
	ibv_destroy_comp_channel(s->channel);
}

void verbs_cqs_done(struct verbs_rnic *r)
{
	poller_remove(&r->poller);
	timer_cancel(r->head.worker, &r->overdue);
	cqs_done(&r->receives);
	cqs_done(&r->sends);
}
