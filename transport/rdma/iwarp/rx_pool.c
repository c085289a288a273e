// SPDX-License-Identifier: BSD-2-Clause
// Receive buffers: as many as were reserved, up to the limit, allocated from the worker's buffer
// pool and shared by its connections. Who finds none waits in FIFO order.
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

static bool is_free(struct iw_rx_pool *p);

// Oldest first. One that takes no buffer leaves it to the next.
static void wake_run(struct defer *d)
{
	struct iw_rx_pool *p = container_of(d, struct iw_rx_pool, wake);

	while (!list_empty(&p->waiting) && is_free(p)) {
		struct iw_rx_wait *w =
			list_entry(list_pop_front(&p->waiting), struct iw_rx_wait, link);
		w->fn(w);
	}
}

static void wake(struct iw_rx_pool *p)
{
	if (!list_empty(&p->waiting))
		worker_defer(p->rnic->worker, &p->wake, wake_run);
}

void iw_rx_pool_init(struct iw_rx_pool *p, struct rnic *rnic, struct rnic_mr *mr)
{
	p->rnic = rnic;
	p->mr = mr;
	list_init(&p->free);
	list_init(&p->chunks);
	list_init(&p->waiting);
	p->limit = DEFAULT_LIMIT;
}

static bool chunk_add(struct iw_rx_pool *p)
{
	struct iw_rx_chunk *c = calloc(1, sizeof *c);

	if (c)
		c->buf = buf_get(p->rnic->worker, CHUNK);
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
			.mr = p->mr,
			.rnic = p->rnic,
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

void iw_rx_pool_done(struct iw_rx_pool *p)
{
	worker_defer_cancel(&p->wake);
	list_for_each_safe (it, &p->chunks)
		chunk_free(p, list_entry(it, struct iw_rx_chunk, link));
}

static bool is_free(struct iw_rx_pool *p)
{
	return p->out < wanted(p) && (!list_empty(&p->free) || chunk_add(p));
}

struct rnic_rx *iw_rx_pool_get(struct iw_rx_pool *p)
{
	if (!is_free(p))
		return NULL;
	struct rnic_rx *rx = list_entry(list_pop_front(&p->free), struct rnic_rx, link);
	((struct iw_rx *)(void *)rx)->chunk->out++;
	p->out++;
	return rx;
}

// The last buffer used is reused first: it is in the cache.
void iw_rx_pool_put(struct iw_rx_pool *p, struct rnic_rx *rx)
{
	list_push_front(&p->free, &rx->link);
	((struct iw_rx *)(void *)rx)->chunk->out--;
	p->out--;
	wake(p);
}

void iw_rx_wait(struct iw_rx_pool *p, struct iw_rx_wait *w, void (*fn)(struct iw_rx_wait *w))
{
	w->fn = fn;
	list_push_back(&p->waiting, &w->link);
}

int iw_rx_pool_reserve(struct iw_rx_pool *p, uint32_t count)
{
	p->reserved += count;
	while (p->total < wanted(p) && chunk_add(p))
		;
	if (!p->total && wanted(p)) {
		p->reserved -= count;
		return -ENOMEM;
	}
	wake(p);
	return 0;
}

void iw_rx_pool_unreserve(struct iw_rx_pool *p, uint32_t count)
{
	p->reserved -= count < p->reserved ? count : p->reserved;
	trim(p);
}

void iw_rx_pool_limit(struct iw_rx_pool *p, uint32_t buffers)
{
	p->limit = buffers;
	trim(p);
	wake(p);
}
