// SPDX-License-Identifier: BSD-2-Clause
// Who needs a worker's share of a device, on its thread: connections, registrations, receive
// buffers that are reserved or handed out.
#include "transport/rdma/verbs/priv.h"

bool verbs_rnic_is_used(const struct verbs_rnic *r)
{
	return r->refs || r->rx_reserved || r->rx_handed;
}

void verbs_rnic_check(struct verbs_rnic *r)
{
	if (!verbs_rnic_is_used(r))
		worker_defer(r->head.worker, &r->release, r->release.fn);
}

void verbs_rnic_put(struct verbs_rnic *r)
{
	r->refs--;
	verbs_rnic_check(r);
}
