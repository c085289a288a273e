// SPDX-License-Identifier: BSD-2-Clause
// The part of a device that all workers share: its protection domain, limits, and registrations of
// regions. It exists from the first listener or connection that uses the device to the last. Any
// thread, under one lock; the first get blocks while memory is registered.
#include <errno.h>
#include <stdlib.h>

#include "transport/rdma/verbs/priv.h"

#define VENDOR_SIW 0x626d74 // software iWARP of the kernel

static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static struct list devices = { &devices, &devices };
static struct verbs_look look = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.open = {&look.open, &look.open},
	.ops = &verbs_look_system
};

static uint32_t least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

// The limit of inline data is known only after creating a queue pair.
static uint32_t ask_inline(struct verbs_device *d)
{
	static const uint32_t wanted[] = { VERBS_INLINE_WANTED, 128, 80, 64 };
	struct ibv_cq *cq = ibv_create_cq(d->context, 1, NULL, NULL, 0);
	uint32_t ret = 0;

	for (size_t i = 0; cq && !ret && i < sizeof wanted / sizeof *wanted; i++) {
		struct ibv_qp_init_attr a = {
			.send_cq = cq,
			.recv_cq = cq,
			.qp_type = IBV_QPT_RC,
			.cap = {.max_send_wr = 1,
				 .max_recv_wr = 1,
				 .max_send_sge = d->limits.max_sge,
				 .max_recv_sge = 1,
				 .max_inline_data = wanted[i]},
		};
		struct ibv_qp *qp = ibv_create_qp(d->pd, &a);
		if (!qp)
			continue;
		ret = a.cap.max_inline_data;
		ibv_destroy_qp(qp);
	}
	if (cq)
		ibv_destroy_cq(cq);
	return ret;
}

static void ask_limits(struct verbs_device *d, const struct ibv_device_attr *a)
{
	struct rnic_limits *l = &d->limits;
	struct ibv_port_attr port = { 0 };
	bool is_siw = a->vendor_id == VENDOR_SIW;

	d->is_iwarp = d->context->device->transport_type == IBV_TRANSPORT_IWARP;
	d->mr_max = a->max_mr_size ? a->max_mr_size : UINT64_MAX;
	d->cqe_max = a->max_cqe;
	d->srq_wr_max = a->max_srq_wr;
	l->max_send_wr = least((uint64_t)a->max_qp_wr, VERBS_SEND_WR_MAX) - 2; // place of a marker
	l->max_sge = least((uint64_t)a->max_sge, VERBS_SGE_MAX);
	l->max_read_sge = d->is_iwarp ? 1 : l->max_sge;
	if (a->max_sge_rd > 0)
		l->max_read_sge = least((uint64_t)a->max_sge_rd, l->max_sge);
	l->max_reads_out = least((uint64_t)a->max_qp_init_rd_atom, RNIC_READS_MAX);
	l->max_reads_in = least((uint64_t)a->max_qp_rd_atom, RNIC_READS_MAX);
	l->max_message = 1u << 30;
	if (ibv_query_port(d->context, 1, &port) == 0 && port.max_msg_sz)
		l->max_message = least(port.max_msg_sz, 1u << 30);
	// siw copies signaled requests. TCP sends the others from the buffer itself: if the buffer
	// is changed after a later signaled request has completed, the peer may receive the new
	// content.
	d->signals_all = is_siw;
	l->needs_remote_sink = d->is_iwarp && !is_siw;
	// siw claims support, but its library takes the key from the wrong field, and the kernel
	// refuses such a send with inline data too late to identify the request.
	l->can_invalidate = a->device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS && !is_siw;
	l->max_inline = ask_inline(d);
}

static int device_open(struct verbs_device *d, struct err *e)
{
	struct ibv_device_attr a;
	int r = ibv_query_device(d->context, &a);

	if (r)
		return err_errno(e, -r, "%s: query", d->name);
	if (a.max_srq <= 0 || a.max_qp_wr < 8 || a.max_sge < 1)
		return err_set(e, -EOPNOTSUPP, "%s: no support for shared receive queues", d->name);
	d->pd = ibv_alloc_pd(d->context);
	if (!d->pd)
		return err_errno(e, -errno, "%s: create protection domain", d->name);
	ask_limits(d, &a);
	verbs_memory_init(d);
	return 0;
}

static struct verbs_device *device_find(const struct ibv_context *context)
{
	list_for_each (it, &devices) {
		struct verbs_device *d = list_entry(it, struct verbs_device, link);
		if (d->context == context)
			return d;
	}
	return NULL;
}

static int removed(struct err *e, const char *name)
{
	return err_set(e, -ENODEV, "%s: the device was removed", name);
}

static int device_new(struct verbs_device **ret, struct rdma_cm_id *id, struct err *e)
{
	struct verbs_device *d = calloc(1, sizeof *d);

	*ret = NULL;
	if (!d)
		return err_set(e, -ENOMEM, "device: out of memory");
	d->context = id->verbs;
	d->name = ibv_get_device_name(id->verbs->device);
	int r = verbs_look_use(&look, &d->open, id);
	if (r == -ENODEV)
		removed(e, d->name);
	else if (r < 0)
		err_errno(e, r, "%s", d->name);
	if (r == 0 && (r = device_open(d, e)) < 0)
		verbs_look_unuse(&look, d->open);
	if (r < 0) {
		free(d);
		return r;
	}
	list_push_back(&devices, &d->link);
	*ret = d;
	return 0;
}

int verbs_device_get(struct verbs_device **ret, struct rdma_cm_id *id, struct err *e)
{
	int r = 0;

	pthread_mutex_lock(&devices_lock);
	struct verbs_device *d = device_find(id->verbs);
	if (!d) {
		r = device_new(&d, id, e);
	} else if (verbs_device_is_removed(d)) {
		r = removed(e, d->name);
		d = NULL;
	}
	if (d)
		d->refs++;
	pthread_mutex_unlock(&devices_lock);
	*ret = d;
	return r;
}

struct verbs_device *verbs_device_hold(struct verbs_device *d)
{
	pthread_mutex_lock(&devices_lock);
	d->refs++;
	pthread_mutex_unlock(&devices_lock);
	return d;
}

void verbs_device_put(struct verbs_device *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&devices_lock);
	if (!--d->refs) {
		list_remove(&d->link);
		verbs_memory_done(d);
		ibv_dealloc_pd(d->pd);
		verbs_look_unuse(&look, d->open);
		free(d);
	}
	pthread_mutex_unlock(&devices_lock);
}

void verbs_devices_look(void)
{
	verbs_look(&look);
}

bool verbs_device_is_removed(const struct verbs_device *d)
{
	return __atomic_load_n(&d->is_removed, __ATOMIC_RELAXED) || verbs_open_is_gone(d->open);
}

void verbs_device_removed(struct verbs_device *d)
{
	__atomic_store_n(&d->is_removed, true, __ATOMIC_RELAXED);
}
