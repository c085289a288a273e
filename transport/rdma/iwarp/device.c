// SPDX-License-Identifier: BSD-2-Clause
// The device: one per worker that uses software iWARP, created with its first user and freed
// with its last. On the worker's thread.
#include <stdlib.h>

#include "transport/rdma/iwarp/iw_priv.h"

static _Thread_local struct iw_device *mine;

static void device_free(struct iw_device *d)
{
	worker_defer_cancel(&d->crowded);
	iw_rx_pool_done(&d->rx);
	iw_stags_done(&d->stags);
	pthread_mutex_destroy(&d->lock);
	free(d->scratch);
	free(d->frames);
	free(d);
}

static struct iw_device *device_new(const struct rnic_provider *p, struct worker *w)
{
	struct iw_device *d = calloc(1, sizeof *d);

	if (!d)
		return NULL;
	d->rnic = (struct rnic){
		.provider = p,
		.worker = w,
		.name = "iwarp",
		.limits = {
			.max_send_wr = 1 << 14,
			.max_sge = IW_SGE_MAX,
			.max_read_sge = IW_SGE_MAX,
			.max_reads_out = RNIC_READS_MAX,
			.max_reads_in = RNIC_READS_MAX,
			.max_message = UINT32_MAX, // a read's length and a message offset have 32 bits
			.can_invalidate = true,
			.scatters_exposed = true,
			.revokes_exposed = true,
		},
	};
	// The kernel copies between sockets and any memory of ours: one piece covers it all.
	d->all = (struct rnic_mr){ .rnic = &d->rnic, .len = UINT64_MAX };
	pthread_mutex_init(&d->lock, NULL);
	list_init(&d->mrs);
	list_init(&d->half_open);
	iw_rx_pool_init(&d->rx, &d->rnic, &d->all);
	d->scratch = aligned_alloc(4096, IW_SCRATCH);
	d->frames = malloc((size_t)IW_TX_FPDUS * IW_TX_FRAME);
	if (iw_stags_init(&d->stags) == 0 && d->scratch && d->frames)
		return d;
	device_free(d);
	return NULL;
}

struct iw_device *iw_device_get(const struct rnic_provider *p, struct worker *w)
{
	if (!mine)
		mine = device_new(p, w);
	if (mine)
		mine->users++;
	return mine;
}

struct iw_device *iw_device_here(void)
{
	return mine;
}

void iw_device_hold(struct iw_device *d)
{
	d->users++;
}

void iw_device_put(struct iw_device *d)
{
	if (--d->users)
		return;
	device_free(d);
	mine = NULL;
}

// --- receive buffers: each in use, and a reservation, keep the device ---

struct rnic_rx *iw_rx_get(struct iw_device *d)
{
	struct rnic_rx *rx = iw_rx_pool_get(&d->rx);

	if (rx)
		iw_device_hold(d);
	return rx;
}

void iw_rx_put(struct rnic_rx *rx)
{
	struct iw_device *d = (void *)rx->rnic;

	iw_rx_pool_put(&d->rx, rx);
	iw_device_put(d);
}

int iw_rx_reserve(struct rnic *r, uint32_t count)
{
	struct iw_device *d = (void *)r;
	uint32_t before = d->rx.reserved;
	int ret = iw_rx_pool_reserve(&d->rx, count);

	if (!before && d->rx.reserved)
		iw_device_hold(d);
	return ret;
}

void iw_rx_unreserve(struct rnic *r, uint32_t count)
{
	struct iw_device *d = (void *)r;
	uint32_t before = d->rx.reserved;

	iw_rx_pool_unreserve(&d->rx, count);
	if (before && !d->rx.reserved)
		iw_device_put(d);
}

void iw_rx_limit(struct rnic *r, uint32_t buffers)
{
	struct iw_device *d = (void *)r;

	iw_rx_pool_limit(&d->rx, buffers);
}
