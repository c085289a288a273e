// SPDX-License-Identifier: BSD-2-Clause
// The listener of a portal's address on the RDMA devices that have it, in addition to its TCP
// socket. Without such a device it waits, retries every few seconds to a minute, and reports it.
// Software iWARP needs none of this: it comes by the TCP socket. Or that of the address's port as a
// service id of InfiniBand, which waits until there is an InfiniBand port.
//
// Control thread; request is called on the worker that assign chose. Embedded in the portal.
#pragma once

#include "core/err.h"
#include "core/worker.h"
#include "transport/rdma/ib_ports.h"
#include "transport/rdma/rnic.h"

struct portal_rdma {
	// Set before the start for a service id: ib_ports(), which says whether there is a port.
	unsigned (*ib_ports)(struct ib_port *ret, unsigned max);
	const struct rnic_provider *provider;
	struct worker *control;
	const struct tcp_addr *addr;
	const struct rnic_listener_ops *ops;
	void *arg;
	struct rnic_listener *listener; // NULL while waiting
	bool is_started, has_failed;
	bool listens; // relaxed atomic
	bool is_lost; // a device existed
	uint64_t retry_usec;
	struct timer retry;
	struct err why;
};

// Starts to listen, or to wait. addr and ops must outlive r; ops are called with arg, and
// ops->failed must call portal_rdma_failed(). No-op if started. May block while the provider opens
// a device.
void portal_rdma_start(struct portal_rdma *r, const struct rnic_provider *provider,
		       struct worker *control, const struct tcp_addr *addr,
		       const struct rnic_listener_ops *ops, void *arg);
void portal_rdma_failed(struct portal_rdma *r, const struct err *e);
// Stops it; afterwards no request is called. Waits for the workers. No-op if not started.
void portal_rdma_stop(struct portal_rdma *r);

bool portal_rdma_listens(const struct portal_rdma *r); // any thread
// NULL: not started. "": listening. Else why it is waiting.
const char *portal_rdma_reason(const struct portal_rdma *r);
// Why it has lost a device, or NULL.
const char *portal_rdma_lost(const struct portal_rdma *r);
