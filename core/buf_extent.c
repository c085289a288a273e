// SPDX-License-Identifier: BSD-2-Clause
// Extents of a buffer pool, on the worker's thread: memory from the system, registered as fixed
// buffers with the worker's io_uring and announced to devices (which pin it: about a millisecond
// each), and divided by a buddy system.
#include "core/buf_priv.h"

#include <assert.h>
#include <errno.h>
#include <liburing.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/log.h"

#define HUGE_PAGE (2u << 20)
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

// Aligned to 2 MiB, so that transparent huge pages can back it. Pages of the machine's pool are
// left to those who set it up; a private mapping can lose those it has reserved, besides.
static uint8_t *map_extent(void)
{
	uint8_t *m = mmap(NULL, EXTENT_SIZE + HUGE_PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (m == MAP_FAILED)
		return NULL;
	size_t head = -(uintptr_t)m & (HUGE_PAGE - 1);
	if (head)
		munmap(m, head);
	munmap(m + head + EXTENT_SIZE, HUGE_PAGE - head);
	m += head;
	madvise(m, EXTENT_SIZE, MADV_HUGEPAGE);
	return m;
}

static int ring_update(struct buf_extent *x, void *addr, size_t len)
{
	struct iovec iov = { .iov_base = addr, .iov_len = len };
	__u64 tag = 0;
	int r = io_uring_register_buffers_update_tag(worker_ring(x->pool->worker), x->index, &iov,
						     &tag, 1);

	return r < 0 ? r : 0;
}

static int extent_register(struct buf_extent *x)
{
	struct buf_pool *p = x->pool;
	int r = 0;

	if (!p->has_table)
		r = io_uring_register_buffers_sparse(worker_ring(p->worker), p->extents_max);
	if (r < 0)
		return r;
	p->has_table = true;
	return ring_update(x, x->addr, EXTENT_SIZE);
}

static void extent_try_register(struct buf_extent *x)
{
	struct buf_pool *p = x->pool;
	int r = p->no_register ? -ENOMEM : extent_register(x);

	x->fixed_index = r < 0 ? -1 : (int)x->index;
	if (r == 0 || p->no_register)
		return;
	p->no_register = true;
	// Not an error: I/O works without fixed buffers. Logged once for all workers.
	static atomic_flag is_said = ATOMIC_FLAG_INIT;
	if (!atomic_flag_test_and_set(&is_said))
		log_warn("buffers: register %u bytes with io_uring: %s (I/O takes more CPU; raise "
			 "the memlock limit: LimitMEMLOCK=infinity or ulimit -l unlimited)",
			 EXTENT_SIZE, strerror(-r));
}

static void block_free(struct buf *b, unsigned order)
{
	struct buf_pool *p = b->pool;

	b->order = (uint8_t)order;
	b->is_free = 1;
	list_push_front(&p->free[order], &b->link);
}

static void block_take(struct buf *b)
{
	b->is_free = 0;
	list_remove(&b->link);
}

static void extent_fill(struct buf_extent *x)
{
	for (unsigned i = 0; i < EXTENT_PAGES; i++) {
		x->bufs[i] = (struct buf){
			.addr = x->addr + (size_t)i * BUF_PAGE,
			.fixed_index = x->fixed_index,
			.pool = x->pool,
			.page = (uint16_t)i,
		};
	}
	for (unsigned i = 0; i < EXTENT_PAGES; i += 1u << (BUF_ORDERS - 1))
		block_free(&x->bufs[i], BUF_ORDERS - 1);
}

int extent_add(struct buf_pool *p)
{
	unsigned i = 0;

	while (i < p->extents_max && p->extents[i])
		i++;
	if (i == p->extents_max)
		return -ENOMEM;
	struct buf_extent *x = malloc(sizeof *x);
	if (!x)
		return -ENOMEM;
	*x = (struct buf_extent){ .pool = p, .index = i };
	x->addr = map_extent();
	if (!x->addr) {
		free(x);
		return -ENOMEM;
	}
	extent_try_register(x);
	x->region = (struct region){ .addr = x->addr, .len = EXTENT_SIZE };
	region_add(&x->region);
	extent_fill(x);
	buf_forbid(x->addr, EXTENT_SIZE);
	p->extents[i] = x;
	p->extent_count++;
	return 0;
}

void extent_remove(struct buf_extent *x)
{
	struct buf_pool *p = x->pool;

	for (unsigned i = 0; i < EXTENT_PAGES; i += 1u << (BUF_ORDERS - 1))
		block_take(&x->bufs[i]);
	if (x->fixed_index >= 0)
		ring_update(x, NULL, 0);
	p->extents[x->index] = NULL;
	p->extent_count--;
	extent_free(x);
}

void extent_free(struct buf_extent *x)
{
	region_remove(&x->region);
	buf_allow(x->addr, EXTENT_SIZE);
	munmap(x->addr, EXTENT_SIZE);
	free(x);
}

void extent_touch(struct buf_extent *x)
{
	madvise(x->addr, EXTENT_SIZE, MADV_POPULATE_WRITE); // Linux 5.14; else at the first use
}

struct buf *buddy_get(struct buf_pool *p, unsigned order)
{
	unsigned o = order;

	while (o < BUF_ORDERS && list_empty(&p->free[o]))
		o++;
	if (o == BUF_ORDERS)
		return NULL;
	struct buf *b = list_entry(list_first(&p->free[o]), struct buf, link);
	block_take(b);
	while (o > order) {
		o--;
		block_free(b + (1u << o), o);
	}
	b->order = (uint8_t)order;
	b->size = BUF_MIN << order;
	buf_extent_of(b)->pages_used += 1u << order;
	return b;
}

void buddy_put(struct buf *b)
{
	struct buf_extent *x = buf_extent_of(b);
	unsigned order = b->order, page = b->page;

	x->pages_used -= 1u << order;
	while (order < BUF_ORDERS - 1) {
		struct buf *buddy = &x->bufs[page ^ (1u << order)];
		if (!buddy->is_free || buddy->order != order)
			break;
		block_take(buddy);
		page &= ~(1u << order);
		order++;
	}
	block_free(&x->bufs[page], order);
}
