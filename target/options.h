// SPDX-License-Identifier: BSD-2-Clause
// The daemon's command line: one row per option. Main thread, before anything else runs.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "core/log.h"
#include "core/options.h"
#include "core/worker.h"

struct daemon_options {
	const char *config, *state_dir, *socket;
	const char *metrics;  // address of the HTTP server, or SERVER_OFF
	unsigned workers;     // 0: one per CPU of cpus
	int cpus[WORKER_MAX]; // CPUs for pinning the workers
	unsigned cpu_count;   // 0: not pinned
	uint64_t pool_mem;    // bytes per worker, 0: the default
	unsigned spin_usec;
	enum log_level log_level;
	bool wants_help, wants_version;
};

// -EINVAL with one line that names the option, the cause and the valid values.
int daemon_options_read(struct daemon_options *ret, int argc, char **argv, struct err *e);
void daemon_options_help(void); // on stdout

extern const struct option_row daemon_option_rows[];

// Parses "0-3,8": fills ret with at most WORKER_MAX numbers; returns their count or -EINVAL.
int options_cpus(const char *text, int ret[WORKER_MAX], struct err *e);
