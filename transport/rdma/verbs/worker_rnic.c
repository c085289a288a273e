// SPDX-License-Identifier: BSD-2-Clause
// A worker's share of a device, on its thread: its life.
//
// It is created with the first connection and freed, at the end of a round, with the last object
// that needs it. Creating it blocks for some system calls, about a millisecond.
#include <errno.h>
#include <stdlib.h>

#include "transport/rdma/verbs/priv.h"

static void rnic_free(struct verbs_rnic *r)
{
	verbs_async_done(r);
	verbs_rx_done(r);
	verbs_cqs_done(r);
	list_remove(&r->link);
	verbs_qpn_done(r);
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

	if (!verbs_rnic_is_used(r))
		rnic_free(r);
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
	if (verbs_qpn_init(r) < 0)
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
	r->release.fn = release_run;
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
