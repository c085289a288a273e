// SPDX-License-Identifier: BSD-2-Clause
// The service manager's watchdog (sd_watchdog_enabled(3)): as long as every worker runs its loop,
// the manager gets its keep-alive; if one hangs it does not, and restarts the daemon.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/worker.h"

struct watchdog_beat { // one worker's
	struct msg ask, answer;
	struct watchdog *owner;
	bool is_out;	  // message sent and not answered
	bool is_reported; // logged that this worker hangs
};

struct watchdog {
	struct worker *control;
	struct timer timer;
	uint64_t interval_us; // 0: no watchdog
	unsigned worker_count;
	struct watchdog_beat beats[WORKER_MAX];
};

// Starts if the environment asks for it (WATCHDOG_USEC, WATCHDOG_PID), else does
// nothing. Control thread, when all workers run.
void watchdog_init(struct watchdog *d, struct worker *control);
// Control thread, before workers end; d must outlive them. No-op on a zeroed one.
void watchdog_done(struct watchdog *d);

// The interval in us that the texts of the two variables ask of the process pid; 0: none. NULL
// texts are absent variables. Any thread.
uint64_t watchdog_interval(const char *usec, const char *wanted_pid, long pid);
