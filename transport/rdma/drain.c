// SPDX-License-Identifier: BSD-2-Clause
// Responses held back while aborted commands have RDMA in flight, see drain.h. On the worker of the
// nexus.
#include "transport/rdma/drain.h"

void rnic_drain_init(struct rnic_drain *d)
{
	*d = (struct rnic_drain){ 0 };
	list_init(&d->held);
	list_init(&d->members);
}

void rnic_drain_begin(struct rnic_drain *d)
{
	d->draining++;
}

static struct rnic_held *pop(struct rnic_drain *d)
{
	struct list *l = list_pop_front(&d->held);
	if (!l)
		return NULL;
	d->held_count--;
	return list_entry(l, struct rnic_held, link);
}

void rnic_drain_end(struct rnic_drain *d)
{
	d->draining--;
	for (struct rnic_held *h; !d->draining && (h = pop(d));)
		h->send(h);
}

bool rnic_drain_send(struct rnic_drain *d, struct rnic_held *h)
{
	if (!d->draining) {
		h->send(h);
		return true;
	}
	list_push_back(&d->held, &h->link);
	d->held_count++;
	return false;
}

void rnic_drain_forget(struct rnic_drain *d, struct rnic_held *h)
{
	if (!list_linked(&h->link))
		return;
	list_remove(&h->link);
	d->held_count--;
}
