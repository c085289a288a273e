// SPDX-License-Identifier: BSD-2-Clause
// The interfaces that the firmware has booted through, set up as it had them. The program's thread.
#pragma once

#include "initiator/boot/ibft.h"

// The interface of a NIC on this machine, that of its VLAN if it has one; "": no interface is
// found. An ibft_interface_fn.
void network_interface(const struct ibft_nic *n, char *ret, size_t size);

// Gets lines for the console.
typedef void network_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

// Sets up the NIC of the chosen target (ibft_chosen()), then those of the other valid ones: link,
// VLAN, address, routes to the targets and through the gateway. What is there already stays. Blocks
// up to wait_seconds in all until the interfaces are there and have a carrier; the others are
// waited for as long as the first has taken, at least 1 s. Errors are those of the chosen target's
// NIC and of the route to it, all others are told as warnings. -ENODEV: no such interface,
// -ENETDOWN: no carrier in time, -EINVAL: the iBFT lacks something, -ENOENT: no valid target,
// others of the kernel, with a text.
int network_apply(const struct ibft *i, unsigned wait_seconds, network_say *say, struct err *e);
