// SPDX-License-Identifier: BSD-2-Clause
// The rates of the last ten minutes for the status page: a ring of fixed size, filled by a timer.
// Control thread; reads the workers' counters without messages.
#pragma once

#include <stdint.h>

#include "core/worker.h"

struct config;
struct json_object;

enum { HISTORY_STEP_S = 2, HISTORY_SAMPLES = 300 };

// All disks together: totals at a time, or rates per second.
struct history_sample {
	uint64_t read_bytes, written_bytes, commands;
};

struct history {
	struct worker *control;
	struct config *config;
	struct timer timer;
	struct history_sample total; // at at_ns
	uint64_t at_ns;		     // 0: no total yet
	unsigned next, count;
	struct history_sample rate[HISTORY_SAMPLES];
};

// Takes a sample now and every HISTORY_STEP_S seconds.
void history_init(struct history *h, struct worker *control, struct config *config);
void history_done(struct history *h); // before the configuration is freed
// Adds the rates between the previous total and this one. A total falls when a disk is deleted;
// that step counts as 0.
void history_add(struct history *h, const struct history_sample *total, uint64_t now_ns);
// {"step_s", "read": [bytes per second], "written", "commands"}, oldest first.
struct json_object *history_json(const struct history *h);
