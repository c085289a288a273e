// SPDX-License-Identifier: BSD-2-Clause
// Log lines that a peer can cause as often as it likes: the first of a cause and an address is
// said, further ones are counted and said as one line every PEER_LOG_S seconds.
#pragma once

#include <stdbool.h>

#include "core/log.h"
#include "core/worker.h"
#include "transport/tcp/addr.h"

#define PEER_LOG_S 10

// Starts and ends it. control's thread; done says what has been counted so far.
void peer_log_init(struct worker *control);
void peer_log_done(void);

// Whether the line is to be logged now; else it has been counted, or level is below the log's.
// cause: at most 63 bytes, such as "login refused, status 0201"; it begins the line that tells
// the count. Any thread; a short mutex, no system call.
bool peer_log_permits(enum log_level level, const char *cause, const struct tcp_addr *peer);
// The same for what is no trouble as such: so many lines every PEER_LOG_S seconds are permitted.
bool peer_log_permits_some(enum log_level level, const char *cause, const struct tcp_addr *peer,
			   unsigned most);
