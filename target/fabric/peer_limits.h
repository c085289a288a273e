// SPDX-License-Identifier: BSD-2-Clause
// Counts connections, in total and by the peer's address, so that one peer cannot use all of them.
// Any thread; a short lock. Sessions of all protocols count together.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "transport/tcp/addr.h"

// Counts a connection from this address. NULL: admitted, peers_leave() must follow. Else the reason
// for refusing it.
const char *peers_enter(const struct tcp_addr *peer);
void peers_leave(const struct tcp_addr *peer);
// Whether few connections are left, not counting the given number of ending ones: then newcomers
// displace logins. Any thread.
bool peers_are_crowded(unsigned ending);

// Limits, so that one peer cannot starve the others. Connections are also limited by their
// descriptors (core/fds.h).
struct peer_limits {
	uint32_t connections; // in all
	uint32_t connections_per_address;
	uint32_t logins_in_progress; // per worker
};
void peer_limits_get(struct peer_limits *ret);
// Lowers the limit of connections to the available descriptors, and logs it; who begins the line.
// At start, before any connection.
void peer_limits_fit(const char *who);
