// SPDX-License-Identifier: BSD-2-Clause
// The routes of a NIC of the iBFT: to its targets, and through its gateway. The program's thread;
// blocks until the kernel has answered.
#pragma once

#include "initiator/boot/link.h"
#include "initiator/boot/network.h"

struct routes {
	struct netlink *kernel;
	const struct ibft *ibft;
	const struct ibft_nic *nic;
	const struct link *link; // its interface, which is up and has the address
	const struct ibft_target
		*chosen;  // what is needed to reach it is an error; NULL: nothing is
	network_say *say; // gets the rest as warnings
};

// Those of all valid targets of the NIC, and the default route. What is there already stays.
// Negative errnos of the kernel, with a text.
int routes_add(const struct routes *s, struct err *e);
