// SPDX-License-Identifier: BSD-2-Clause
// The listener of a portal's address on the RDMA devices that have it, beside its TCP socket. Where
// no such device it waits for one, tries again every few seconds to a minute, and says
// so. Software iWARP needs none of this: it comes by the TCP socket.
//
// Control thread; request comes on the worker that assign chose. Embedded by the portal.
#pragma once

#include "core/err.h"
#include "core/worker.h"
#include "transport/rdma/rnic.h"

struct portal_rdma {
	const struct rnic_provider *provider;
	struct worker *control;
	const struct tcp_addr *addr;
	const struct rnic_listener_ops *ops;
	void *arg;
	struct rnic_listener *listener; // NULL while waiting
	bool is_started, has_failed;
	bool listens; // relaxed atomic
	bool is_lost; // there was a device
	uint64_t retry_usec;
	struct timer retry;
	struct err why;
};

// Begins to listen, or to wait. addr and ops stay as long as r does; ops are called with arg, and
// ops->failed calls portal_rdma_failed(). No-op if it has begun. May block for as long as the
// provider takes to open a device.
void portal_rdma_start(struct portal_rdma *r, const struct rnic_provider *provider,
		       struct worker *control, const struct tcp_addr *addr,
		       const struct rnic_listener_ops *ops, void *arg);
void portal_rdma_failed(struct portal_rdma *r, const struct err *e);
// Ends that; after it no request comes. Waits for the workers. No-op if not started.
void portal_rdma_stop(struct portal_rdma *r);

bool portal_rdma_listens(const struct portal_rdma *r); // any thread
// NULL: not started. "": listening. Else why it waits.
const char *portal_rdma_reason(const struct portal_rdma *r);
// Why it waits for a device that it had before, or NULL.
const char *portal_rdma_lost(const struct portal_rdma *r);
