// SPDX-License-Identifier: BSD-2-Clause
// The service manager's watchdog (sd_watchdog_enabled(3)): the manager gets its keep-alive as long
// as every worker runs its loop; if one hangs, the manager restarts the daemon.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/worker.h"

struct watchdog_beat { // of one worker
	struct msg ask, answer;
	struct watchdog *owner;
	bool is_out;	  // message sent, no response yet
	bool is_reported; // the hang was logged
};

struct watchdog {
	struct worker *control;
	struct timer timer;
	uint64_t interval_us; // 0: no watchdog
	unsigned worker_count;
	struct watchdog_beat beats[WORKER_MAX];
};

// Starts if the environment requests it (WATCHDOG_USEC, WATCHDOG_PID), else no-op. Control thread,
// when all workers run.
void watchdog_init(struct watchdog *d, struct worker *control);
// Control thread, before the workers end; d must outlive them. No-op on a zeroed struct.
void watchdog_done(struct watchdog *d);

// The interval in us for process pid from the texts of the two variables; 0: none. NULL: absent
// variable. Any thread.
uint64_t watchdog_interval(const char *usec, const char *wanted_pid, long pid);
