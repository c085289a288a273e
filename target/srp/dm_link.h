// SPDX-License-Identifier: BSD-2-Clause
// Ports of InfiniBand on which device management datagrams arrive, as the agent (dm_agent.c) uses
// them. All functions are called on the agent's thread.
#pragma once

#include "core/err.h"
#include "transport/rdma/ib_ports.h"
#include "transport/srp/dm_mad.h"

enum { DM_PORTS_MAX = IB_PORTS_MAX, DM_DEVICE_SIZE = IB_DEVICE_SIZE };

struct dm_port_name {
	char device[DM_DEVICE_SIZE]; // "mlx5_0"
	unsigned port;		     // from 1
};

struct dm_link {
	int fd; // for poll(): readable while there is a datagram
	int agent;
};

struct dm_link_ops {
	// Fills the InfiniBand ports that this machine has now, at most max; returns how many.
	unsigned (*ports)(struct dm_port_name *ret, unsigned max);
	// Becomes the agent of the class on a port. -EBUSY with text: another one has it; -ENODEV:
	// ib_umad is not loaded; -EACCES ...
	int (*open)(struct dm_link *ret, const struct dm_port_name *name, struct err *e);
	// Answers one datagram, without waiting. 1: done; 0: no datagram has come; negative with
	// text: the port is lost.
	int (*serve)(struct dm_link *l, const struct srp_io_unit *u, struct err *e);
	void (*close)(struct dm_link *l);
};

extern const struct dm_link_ops dm_umad; // dm_umad.c, by libibumad
