// SPDX-License-Identifier: BSD-2-Clause
// Two readings of the daemon's counters, for the check of what limits its load. doctor's thread.
#pragma once

#include <json-c/json.h>

#include "cli/doctor/doctor.h"
#include "cli/shell/client.h"

enum { CHANGE_WORKERS_MAX = 64 };

struct change {
	struct doctor *d;
	struct json_object *now, *before; // of status.get
	double seconds;
	double waits[CHANGE_WORKERS_MAX], waits_before[CHANGE_WORKERS_MAX]; // s, for a CPU
};

// Seconds that each worker was ready to run while other threads had its CPU; 0: unknown.
void change_cpu_waits(struct doctor *d, double ret_s[CHANGE_WORKERS_MAX]);
// The share of its time that the busiest worker worked, or waited for a CPU; 0 to 1.
double change_busiest(const struct change *c);
// Reports the workers without free time; returns how many.
unsigned change_workers_full(const struct change *c);

// How much a number has grown; 0 if it is missing or was reset.
static inline double change_growth(struct json_object *now, struct json_object *before,
				   const char *key)
{
	double d = json_object_get_double(json_field(now, key)) -
		   json_object_get_double(json_field(before, key));
	return before && d > 0 ? d : 0;
}
