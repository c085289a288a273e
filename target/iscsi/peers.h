// SPDX-License-Identifier: BSD-2-Clause
// Connections counted, in all and by the peer's address, so that one peer cannot take all there
// are. Any thread; a lock is held for a moment.
#pragma once

#include <stdbool.h>

#include "transport/tcp/addr.h"

// One more connection from there. NULL: it may come in, and peers_leave() follows. Else why not.
const char *peers_enter(const struct tcp_addr *peer);
void peers_leave(const struct tcp_addr *peer);
// Whether few connections are left, not counting so many that are ending: then newcomers take the
// places of logins. Any thread.
bool peers_are_crowded(unsigned ending);

// Lowers the limit of connections to the descriptors there are, and says so. At start, when no
// connection can have come.
void iscsi_limits_fit(void);
