// SPDX-License-Identifier: BSD-2-Clause
// The memory and the number of a queue pair's sends, see sends.h. On the worker of the queue pair.
#include "transport/rdma/sends.h"

#include <errno.h>
#include <stdlib.h>

// A pool buffer and its sends.
struct rnic_send_slab {
	struct list link;
	struct buf *buf;
	unsigned used; // of its sends
	struct rnic_send sends[];
};

void rnic_sends_init(struct rnic_sends *s, struct rnic_transfers *of, uint32_t slot)
{
	*s = (struct rnic_sends){ .of = of, .slot = slot, .per_slab = BUF_MIN / slot };
	list_init(&s->slabs);
	list_init(&s->free);
}

int rnic_sends_add(struct rnic_sends *s)
{
	struct rnic_send_slab *slab = calloc(1, sizeof *slab + s->per_slab * sizeof slab->sends[0]);
	struct rnic_mr *mr = NULL;
	if (slab)
		slab->buf = buf_get(s->of->rnic->worker, BUF_MIN);
	if (slab && slab->buf)
		mr = rnic_find(s->of->rnic, slab->buf->addr, BUF_MIN);
	if (!mr) {
		int r = slab && slab->buf ? -ENOBUFS : -ENOMEM;
		if (slab)
			buf_put(slab->buf);
		free(slab);
		return r;
	}
	for (unsigned i = 0; i < s->per_slab; i++) {
		struct rnic_send *t = &slab->sends[i];
		t->of = s;
		t->slab = slab;
		t->memory = slab->buf->addr + (size_t)i * s->slot;
		t->mr = mr;
		list_push_back(&s->free, &t->link);
	}
	list_push_back(&s->slabs, &slab->link);
	s->slab_count++;
	return 0;
}

static void slab_free(struct rnic_sends *s, struct rnic_send_slab *slab)
{
	for (unsigned i = 0; i < s->per_slab; i++)
		list_remove(&slab->sends[i].link);
	list_remove(&slab->link);
	s->slab_count--;
	buf_put(slab->buf);
	free(slab);
}

void rnic_sends_done(struct rnic_sends *s)
{
	while (!list_empty(&s->slabs))
		slab_free(s, list_entry(s->slabs.next, struct rnic_send_slab, link));
}

// t may be gone afterwards.
void rnic_send_put(struct rnic_send *t)
{
	struct rnic_sends *s = t->of;
	buf_put(t->big);
	t->big = NULL;
	list_push_front(&s->free, &t->link);
	if (!--t->slab->used && s->slab_count > s->kept / s->per_slab + 1)
		slab_free(s, t->slab);
}

void rnic_send_end(struct rnic_send *t)
{
	t->of->in_flight--;
	rnic_out_ends(t->of->of);
	rnic_send_put(t);
}

static void on_sent(struct rnic_wr *wr, int res)
{
	rnic_send_end(rnic_send_of(wr));
}

static bool has_memory(struct rnic_send *t, uint32_t len)
{
	struct rnic *rnic = t->of->of->rnic;
	t->sge = (struct rnic_sge){ .addr = t->memory, .mr = t->mr };
	if (len <= t->of->slot)
		return true;
	t->big = buf_get(rnic->worker, len);
	if (!t->big)
		return false;
	t->sge.addr = t->big->addr;
	t->sge.mr = rnic_find(rnic, t->big->addr, len);
	return t->sge.mr != NULL;
}

int rnic_send_get(struct rnic_sends *s, struct rnic_send **ret, uint32_t len)
{
	if (s->in_flight >= s->limit)
		return -EAGAIN;
	int r = list_empty(&s->free) ? rnic_sends_add(s) : 0;
	if (r < 0)
		return r;
	struct rnic_send *t = list_entry(list_pop_front(&s->free), struct rnic_send, link);
	t->slab->used++;
	t->wr = (struct rnic_wr){ .opcode = RNIC_SEND, .sge = &t->sge, .nsge = 1, .done = on_sent };
	t->task = NULL;
	t->flags = 0;
	if (!has_memory(t, len)) {
		rnic_send_put(t);
		return -ENOMEM;
	}
	*ret = t;
	return 0;
}

int rnic_send_post(struct rnic_send *t, uint32_t len, unsigned flags)
{
	struct rnic_sends *s = t->of;
	t->sge.len = len;
	t->wr.flags = flags;
	s->of->unsignaled = 0;
	s->in_flight++;
	rnic_out_begins(s->of);
	int r = rnic_post(s->of->qp, &t->wr);
	if (r < 0)
		t->wr.done(&t->wr, r);
	return r;
}
