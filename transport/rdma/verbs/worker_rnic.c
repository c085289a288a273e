// SPDX-License-Identifier: BSD-2-Clause
// A worker's share of a device, on its thread: its life, and the map from queue pair numbers
// to connections.
//
// It is created with the first connection and freed, at the end of a round, with the last object
// that needs it. Creating it blocks for some system calls, about a millisecond.
#include <errno.h>
#include <stdlib.h>

#include "transport/rdma/verbs/priv.h"

#define QPN_PLACES 64

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
	// Later entries may have been displaced by it.
	for (i = (i + 1) & r->mask; r->by_qpn[i]; i = (i + 1) & r->mask) {
		struct verbs_conn *moved = r->by_qpn[i];
		r->by_qpn[i] = NULL;
		qpn_put(r, moved);
	}
}

// --- life ---

static void rnic_free(struct verbs_rnic *r)
{
	verbs_async_done(r);
	verbs_rx_done(r);
	verbs_cqs_done(r);
	list_remove(&r->link);
	free(r->by_qpn);
	verbs_device_put(r->device);
	// The context of a removed device was needed until here.
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

void verbs_rnics_look(struct verbs_worker *vw)
{
	list_for_each (it, &vw->rnics) {
		struct verbs_rnic *r = list_entry(it, struct verbs_rnic, link);
		if (!verbs_device_is_removed(r->device))
			continue;
		list_for_each_safe (at, &r->conns)
			verbs_conn_removed(list_entry(at, struct verbs_conn, link));
	}
}

static int rnic_open(struct verbs_rnic *r, struct err *e)
{
	r->mask = QPN_PLACES - 1;
	r->by_qpn = calloc(QPN_PLACES, sizeof(struct verbs_conn *));
	if (!r->by_qpn)
		return err_set(e, -ENOMEM, "%s: out of memory", r->device->name);
	int n = verbs_rx_init(r, e);
	if (n == 0)
		n = verbs_cqs_open(r, e);
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
	if (!r)
		return err_set(e, -ENOMEM, "%s: out of memory", d->name);
	r->head = (struct rnic){
		.provider = &rnic_verbs, .worker = vw->worker, .limits = d->limits, .name = d->name
	};
	r->async_watch.fd = -1;
	verbs_cqs_init(r);
	list_init(&r->conns);
	list_init(&r->parked);
	list_init(&r->slabs);
	list_init(&r->idle);
	verbs_worker_get(&r->vw, vw->worker, NULL); // cannot fail: the device exists
	r->device = verbs_device_hold(d);
	list_push_back(&vw->rnics, &r->link);
	int n = rnic_open(r, e);
	if (n < 0) {
		rnic_free(r);
		return n;
	}
	r->refs = 1;
	*ret = r;
	return 0;
}
