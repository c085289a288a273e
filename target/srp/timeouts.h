// SPDX-License-Identifier: BSD-2-Clause
// Limits of time of a worker's logins and sessions.
#pragma once

#include <stdint.h>

#include "core/worker.h"
#include "target/srp/session.h"

void srp_timeouts_tick(struct timer *t); // srp_worker.tick
// A session's part, by a clock of the caller.
void srp_timeouts_check(struct srp_session *s, uint64_t now);
