// SPDX-License-Identifier: BSD-2-Clause
// Network interfaces by routing netlink: found by MAC address, made (VLANs), set up. The program's
// thread; blocks until the kernel has answered. Errors are negative errnos of the kernel.
#pragma once

#include <net/if.h>
#include <stdbool.h>

#include "initiator/boot/ibft.h"
#include "initiator/netlink/netlink.h"

struct link {
	unsigned index; // 0: none
	char name[IF_NAMESIZE];
	bool is_up, has_carrier;
};

// The interface of that MAC address itself, not one above it (VLAN, bridge, bond). 0; ret->index 0:
// no interface has it.
int link_by_mac(struct netlink *n, const uint8_t mac[6], struct link *ret);
// The VLAN of that id above an interface; likewise.
int link_vlan(struct netlink *n, unsigned parent, unsigned id, struct link *ret);
// That of an index; likewise.
int link_by_index(struct netlink *n, unsigned index, struct link *ret);
// Makes it, "eth0.5".
int link_make_vlan(struct netlink *n, const struct link *parent, unsigned id);
void link_vlan_name(const char *parent, unsigned id, char ret[IF_NAMESIZE]);
int link_set_up(struct netlink *n, unsigned index);
// An address that is there already is fine.
int link_add_address(struct netlink *n, unsigned index, const struct ibft_address *a,
		     unsigned prefix);
// A route to prefix bits of a through gateway (NULL: directly); prefix 0: the default route. One
// that is there already is fine. is_onlink: the gateway is on the link though no address of the
// interface has it in its network.
int link_add_route(struct netlink *n, unsigned index, const struct ibft_address *a, unsigned prefix,
		   const struct ibft_address *gateway, bool is_onlink);
