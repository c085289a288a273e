// SPDX-License-Identifier: BSD-2-Clause
// Counts connections, in total and by the peer's address, so that one peer cannot use all of them.
// Any thread; a short lock.
#pragma once

#include <stdbool.h>

#include "transport/tcp/addr.h"

// Counts a connection from this address. NULL: admitted, peers_leave() must follow. Else the reason
// for refusing it.
const char *peers_enter(const struct tcp_addr *peer);
void peers_leave(const struct tcp_addr *peer);
// Whether few connections are left, not counting the given number of ending ones: then newcomers
// displace logins. Any thread.
bool peers_are_crowded(unsigned ending);

// Lowers the limit of connections to the available descriptors, and logs it. At start, before any
// connection.
void iscsi_limits_fit(void);
