// SPDX-License-Identifier: BSD-2-Clause
// The interfaces that the firmware has booted through, set up as it had them. The program's thread.
#pragma once

#include "initiator/boot/ibft.h"

// The interface of a NIC on this machine, that of its VLAN if it has one; "": no interface is
// found. An ibft_interface_fn.
void network_interface(const struct ibft_nic *n, char *ret, size_t size);

// Sets up the NICs of all valid targets: link, VLAN, address, routes to the targets and through the
// gateway. What is there already stays. Blocks up to wait_seconds in all until the interfaces are
// there and have a carrier; say gets lines for the console. -ENODEV: no such interface, -ENETDOWN:
// no carrier in time, -EINVAL: the iBFT lacks something, others of the kernel, with a text.
int network_apply(const struct ibft *i, unsigned wait_seconds,
		  void (*say)(const char *fmt, ...) __attribute__((format(printf, 1, 2))),
		  struct err *e);
