// SPDX-License-Identifier: BSD-2-Clause
// The network interface that a connection uses, and its rate. Reads sysfs; blocks shortly.
#pragma once

#include <net/if.h>
#include <stdbool.h>

struct link {
	char name[IF_NAMESIZE]; // "" if no interface has the connection's own address
	bool is_loopback;
	double bytes; // of data a second at most, in one direction; 0: none (loopback) or unknown
};

// local, peer: the addresses of a connection, "192.0.2.1:3260". The route has chosen the local one,
// so that its interface is that of the route.
void link_find(struct link *ret, const char *local, const char *peer);
// Reads the rate of the interface called name from the directories class/net and class/infiniband
// below sysfs ("/sys"); bytes a second, 0: unknown.
double link_rate(const char *sysfs, const char *name);
