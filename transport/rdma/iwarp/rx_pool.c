// SPDX-License-Identifier: BSD-2-Clause
// Receive buffers: as many as were reserved, up to the limit, allocated from the worker's buffer
// pool and shared by its connections. Connections without one wait in FIFO order.
#include <errno.h>
#include <stdlib.h>

#include "transport/rdma/iwarp/iw_priv.h"

#define CHUNK	      (256u << 10)
#define CHUNK_COUNT   (CHUNK / RNIC_RX_SIZE)
#define DEFAULT_LIMIT 8192 // buffers: 66 MiB

struct iw_rx {
	struct rnic_rx rx; // first
	struct iw_rx_chunk *chunk;
};

struct iw_rx_chunk {
	struct list link;
	struct buf *buf;
	unsigned out;
	struct iw_rx items[CHUNK_COUNT];
};

static void wake_run(struct defer *d)
{
	struct iw_device *dev = container_of(d, struct iw_device, rx.wake);
	struct iw_rx_pool *p = &dev->rx;

	while (!list_empty(&p->waiting)) {
		struct rnic_rx *rx = iw_rx_get(dev);
		if (!rx)
			return;
		struct iw_qp *qp = list_entry(list_pop_front(&p->waiting), struct iw_qp, rx_wait);
		qp->rx = rx;
		iw_rx_resume(qp);
	}
}

static void wake(struct iw_device *d)
{
	if (!list_empty(&d->rx.waiting))
		worker_defer(d->rnic.worker, &d->rx.wake, wake_run);
}

void iw_rx_init(struct iw_device *d)
{
	list_init(&d->rx.free);
	list_init(&d->rx.chunks);
	list_init(&d->rx.waiting);
	d->rx.limit = DEFAULT_LIMIT;
}

static bool chunk_add(struct iw_device *d)
{
	struct iw_rx_pool *p = &d->rx;
	struct iw_rx_chunk *c = calloc(1, sizeof *c);

	if (c)
		c->buf = buf_get(d->rnic.worker, CHUNK);
	if (!c || !c->buf) {
		free(c);
		return false;
	}
	list_push_back(&p->chunks, &c->link);
	for (uint32_t i = 0; i < CHUNK_COUNT; i++) {
		struct iw_rx *x = &c->items[i];
		x->chunk = c;
		x->rx = (struct rnic_rx){
			.data = c->buf->addr + (size_t)i * RNIC_RX_SIZE,
			.mr = &d->all,
			.rnic = &d->rnic,
			.buf = c->buf,
		};
		list_push_back(&p->free, &x->rx.link);
	}
	p->total += CHUNK_COUNT;
	return true;
}

static void chunk_free(struct iw_rx_pool *p, struct iw_rx_chunk *c)
{
	for (uint32_t i = 0; i < CHUNK_COUNT; i++)
		list_remove(&c->items[i].rx.link);
	p->total -= CHUNK_COUNT;
	list_remove(&c->link);
	buf_put(c->buf);
	free(c);
}

static uint32_t wanted(const struct iw_rx_pool *p)
{
	return p->reserved < p->limit ? p->reserved : p->limit;
}

static void trim(struct iw_rx_pool *p)
{
	list_for_each_safe (it, &p->chunks) {
		struct iw_rx_chunk *c = list_entry(it, struct iw_rx_chunk, link);
		if (p->total < wanted(p) + CHUNK_COUNT)
			return;
		if (!c->out)
			chunk_free(p, c);
	}
}

void iw_rx_done(struct iw_device *d)
{
	worker_defer_cancel(&d->rx.wake);
	list_for_each_safe (it, &d->rx.chunks)
		chunk_free(&d->rx, list_entry(it, struct iw_rx_chunk, link));
}

struct rnic_rx *iw_rx_get(struct iw_device *d)
{
	struct iw_rx_pool *p = &d->rx;

	if (p->out >= wanted(p) || (list_empty(&p->free) && !chunk_add(d)))
		return NULL;
	struct rnic_rx *rx = list_entry(list_pop_front(&p->free), struct rnic_rx, link);
	((struct iw_rx *)(void *)rx)->chunk->out++;
	p->out++;
	iw_device_hold(d);
	return rx;
}

// The last buffer used is reused first: it is in the cache.
void iw_rx_put(struct rnic_rx *rx)
{
	struct iw_device *d = (void *)rx->rnic;

	list_push_front(&d->rx.free, &rx->link);
	((struct iw_rx *)(void *)rx)->chunk->out--;
	d->rx.out--;
	wake(d);
	iw_device_put(d);
}

int iw_rx_reserve(struct rnic *r, uint32_t count)
{
	struct iw_device *d = (void *)r;
	struct iw_rx_pool *p = &d->rx;

	uint32_t before = p->reserved;
	p->reserved += count;
	while (p->total < wanted(p) && chunk_add(d))
		;
	if (!p->total && wanted(p)) {
		p->reserved -= count;
		return -ENOMEM;
	}
	if (!before && count)
		iw_device_hold(d); // while anything is reserved
	wake(d);
	return 0;
}

void iw_rx_unreserve(struct rnic *r, uint32_t count)
{
	struct iw_device *d = (void *)r;
	struct iw_rx_pool *p = &d->rx;
	uint32_t before = p->reserved;

	p->reserved -= count < p->reserved ? count : p->reserved;
	trim(p);
	if (before && !p->reserved)
		iw_device_put(d);
}

void iw_rx_limit(struct rnic *r, uint32_t buffers)
{
	struct iw_device *d = (void *)r;

	d->rx.limit = buffers;
	trim(&d->rx);
	wake(d);
}
