// SPDX-License-Identifier: BSD-2-Clause
// Ports of this machine's RDMA devices with the link layer InfiniBand, as sysfs shows them. Any
// thread; reads some small files.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { IB_PORTS_MAX = 64, IB_DEVICE_SIZE = 64, IB_GID_LEN = 16 };

struct ib_port {
	char device[IB_DEVICE_SIZE]; // "mlx5_0"
	unsigned number;	     // from 1
	bool is_active;		     // it has a link and a subnet manager
	uint8_t gid[IB_GID_LEN];     // the first of its table; zeros: unknown
};

// Fills at most max, ascending by device and number, and zeroes their padding; returns how many.
unsigned ib_ports(struct ib_port *ret, unsigned max);
// The same of a folder like /sys/class/infiniband.
unsigned ib_ports_in(const char *folder, struct ib_port *ret, unsigned max);
