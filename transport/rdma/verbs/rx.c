// SPDX-License-Identifier: BSD-2-Clause
// Receive buffers of a worker's share of a device, on its thread: cut from pool buffers, posted to
// one shared receive queue, as many as the connections reserved.
#include <errno.h>
#include <stdlib.h>

#include "transport/rdma/verbs/priv.h"

#define SLAB_BYTES (256u << 10)
#define SLAB_RX	   (SLAB_BYTES / RNIC_RX_SIZE)
#define REFILL_AT  32 // returned buffers are posted together, at once if there are this many

struct verbs_slab {
	struct list link;
	struct buf *buf;
	unsigned idle;
	struct verbs_rx rx[SLAB_RX];
};

static unsigned wanted(const struct verbs_rnic *r)
{
	unsigned n = r->rx_reserved + VERBS_RX_BASE;

	if (n > r->rx_limit)
		n = r->rx_limit;
	return n < r->srq_size ? n : r->srq_size;
}

static int slab_add(struct verbs_rnic *r)
{
	struct buf *b = buf_get(r->head.worker, SLAB_BYTES);
	struct rnic_mr *mr = b ? verbs_find(&r->head, b->addr, b->size) : NULL;
	struct verbs_slab *s = mr ? calloc(1, sizeof *s) : NULL;

	if (!s) {
		buf_put(b);
		return -ENOMEM;
	}
	s->buf = b;
	s->idle = SLAB_RX;
	list_push_back(&r->slabs, &s->link);
	for (unsigned i = 0; i < SLAB_RX; i++) {
		struct verbs_rx *rx = &s->rx[i];
		rx->slab = s;
		rx->head = (struct rnic_rx){
			.data = b->addr + i * RNIC_RX_SIZE, .mr = mr, .rnic = &r->head, .buf = b
		};
		list_push_back(&r->idle, &rx->head.link);
	}
	r->rx_total += SLAB_RX;
	return 0;
}

static void slab_free(struct verbs_rnic *r, struct verbs_slab *s)
{
	for (unsigned i = 0; i < SLAB_RX; i++)
		list_remove(&s->rx[i].head.link);
	r->rx_total -= SLAB_RX;
	list_remove(&s->link);
	buf_put(s->buf);
	free(s);
}

// One system call or doorbell for the whole chain.
static void post_chain(struct verbs_rnic *r, unsigned count)
{
	struct ibv_recv_wr wrs[REFILL_AT], *bad = NULL;
	struct ibv_sge sges[REFILL_AT];

	for (unsigned i = 0; i < count; i++) {
		struct verbs_rx *rx =
			list_entry(list_pop_front(&r->idle), struct verbs_rx, head.link);
		rx->slab->idle--;
		sges[i] = (struct ibv_sge){ .addr = (uintptr_t)rx->head.data,
					    .length = RNIC_RX_SIZE,
					    .lkey = rx->head.mr->lkey };
		wrs[i] = (struct ibv_recv_wr){ .wr_id = (uintptr_t)rx | VERBS_WR_RX,
					       .next = i + 1 < count ? &wrs[i + 1] : NULL,
					       .sg_list = &sges[i],
					       .num_sge = 1 };
	}
	r->rx_posted += count;
	if (ibv_post_srq_recv(r->srq, wrs, &bad) == 0)
		return;
	for (; bad; bad = bad->next) { // only a removed device refuses
		struct verbs_rx *rx = (struct verbs_rx *)(uintptr_t)(bad->wr_id & ~VERBS_WR_RX);
		rx->slab->idle++;
		list_push_back(&r->idle, &rx->head.link);
		r->rx_posted--;
	}
}

static void refill_later(struct buf_wait *wait);

static void refill(struct verbs_rnic *r)
{
	unsigned want = wanted(r);

	while (r->rx_posted + r->rx_handed < want) {
		unsigned n = want - r->rx_posted - r->rx_handed, before = r->rx_posted;
		unsigned idle = r->rx_total - r->rx_posted - r->rx_handed;
		if (!idle && slab_add(r) < 0) {
			if (!r->rx_posted) // memory will be freed later
				buf_wait_add(r->head.worker, &r->rx_wait, refill_later);
			return;
		}
		idle = r->rx_total - r->rx_posted - r->rx_handed;
		if (n > idle)
			n = idle;
		post_chain(r, n < REFILL_AT ? n : REFILL_AT);
		if (r->rx_posted == before)
			return;
	}
}

static void refill_later(struct buf_wait *wait)
{
	refill(container_of(wait, struct verbs_rnic, rx_wait));
}

static void refill_run(struct defer *d)
{
	refill(container_of(d, struct verbs_rnic, rx_refill));
}

void verbs_rx_taken(struct verbs_rx *rx)
{
	struct verbs_rnic *r = verbs_rnic_of(rx->head.rnic);

	r->rx_posted--;
	r->rx_handed++;
	rx->head.is_scarce =
		r->rx_handed > (r->rx_limit < r->srq_size ? r->rx_limit : r->srq_size) / 2;
}

void verbs_rx_put(struct rnic_rx *head)
{
	struct verbs_rnic *r = verbs_rnic_of(head->rnic);
	struct verbs_rx *rx = container_of(head, struct verbs_rx, head);
	unsigned want = wanted(r);

	r->rx_handed--;
	list_push_front(&r->idle, &head->link); // it is in the cache
	rx->slab->idle++;
	if (r->rx_posted + r->rx_handed >= want) {
		if (rx->slab->idle == SLAB_RX && r->rx_total - SLAB_RX > want)
			slab_free(r, rx->slab);
		verbs_rnic_check(r);
	} else if (want - r->rx_posted - r->rx_handed >= REFILL_AT || !r->rx_posted) {
		refill(r);
	} else {
		worker_defer(r->head.worker, &r->rx_refill, refill_run);
	}
}

int verbs_reserve(struct rnic *rnic, uint32_t count)
{
	struct verbs_rnic *r = verbs_rnic_of(rnic);

	r->rx_reserved += count;
	refill(r);
	if (r->rx_posted + r->rx_handed)
		return 0;
	r->rx_reserved -= count;
	return -ENOMEM;
}

void verbs_unreserve(struct rnic *rnic, uint32_t count)
{
	struct verbs_rnic *r = verbs_rnic_of(rnic);

	r->rx_reserved -= count;
	verbs_rnic_check(r);
}

void verbs_rx_limit(struct rnic *rnic, uint32_t buffers)
{
	struct verbs_rnic *r = verbs_rnic_of(rnic);

	r->rx_limit = buffers ? buffers : 1;
	refill(r);
}

int verbs_rx_init(struct verbs_rnic *r, struct err *e)
{
	struct verbs_device *d = r->device;
	struct ibv_srq_init_attr a = {
		.attr = {.max_wr = VERBS_RX_MAX, .max_sge = 1}
	};

	if (d->srq_wr_max < VERBS_RX_MAX)
		a.attr.max_wr = (uint32_t)d->srq_wr_max;
	r->srq = ibv_create_srq(d->pd, &a);
	if (!r->srq)
		return err_errno(e, -errno, "%s: shared receive queue", d->name);
	r->srq_size = a.attr.max_wr < VERBS_RX_MAX ? a.attr.max_wr : VERBS_RX_MAX;
	r->rx_limit = VERBS_RX_LIMIT;
	refill(r);
	if (!r->rx_posted)
		return err_set(e, -ENOMEM,
			       "%s: receive buffers: cannot register any (raise the memlock limit: "
			       "LimitMEMLOCK=infinity or ulimit -l unlimited)",
			       d->name);
	return 0;
}

void verbs_rx_done(struct verbs_rnic *r)
{
	buf_wait_cancel(&r->rx_wait);
	worker_defer_cancel(&r->rx_refill);
	if (r->srq)
		ibv_destroy_srq(r->srq); // the posted buffers are ours again
	while (!list_empty(&r->slabs))
		slab_free(r, list_entry(list_first(&r->slabs), struct verbs_slab, link));
}
