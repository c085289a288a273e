// SPDX-License-Identifier: BSD-2-Clause
// Log lines that a peer can cause without limit: the first of a cause and an address is logged,
// further ones are counted and logged as one line every PEER_LOG_S seconds.
#pragma once

#include <stdbool.h>

#include "core/log.h"
#include "core/worker.h"
#include "transport/tcp/addr.h"

#define PEER_LOG_S 10

// Starts and ends it. control's thread; done logs the remaining counts.
void peer_log_init(struct worker *control);
void peer_log_done(void);

// Whether to log the line now; else it was counted, or the log level excludes it. who: the name of
// the fabric, not copied. cause: at most 63 bytes, such as "login refused, status 0201". Both begin
// the line with the count. Any thread; a short mutex, no system call.
bool peer_log_permits(enum log_level level, const char *who, const char *cause,
		      const struct tcp_addr *peer);
// The same for events that are not errors: permits this many lines every PEER_LOG_S seconds.
bool peer_log_permits_some(enum log_level level, const char *who, const char *cause,
			   const struct tcp_addr *peer, unsigned most);
