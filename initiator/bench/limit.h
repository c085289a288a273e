// SPDX-License-Identifier: BSD-2-Clause
// What limited a measured run of READs or WRITEs: a decision from figures, and its text. Pure
// functions, any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "initiator/bench/link.h"

enum limit {
	LIMIT_UNKNOWN,
	LIMIT_NETWORK,
	LIMIT_CPU,     // of this program
	LIMIT_LATENCY, // one command at a time
	LIMIT_DISK,
	LIMIT_TARGET, // its CPU, or the network; not the disk
	LIMIT_DISK_OR_TARGET,
};

// Rates are commands a second, all measured with the same number in flight.
struct limit_figures {
	bool was_interrupted; // the session was lost during the run
	unsigned depth;	      // commands in flight
	double rate, bytes;   // of the run, and of one of its commands
	unsigned trips;	      // round trips of such a command: 1, and one for each R2T
	double busy, waited;  // shares of the run: the session's thread worked; waited for a CPU
	double bare_rate;     // of commands without disk and data (TEST UNIT READY); 0: unknown
	// Of commands that carry data_bytes each, and use no disk; 0: unknown.
	double data_rate, data_bytes;
	struct link link; // that the session uses
};

enum limit limit_of(const struct limit_figures *f);
// "disk", "cpu", ...: for JSON.
const char *limit_name(enum limit l);
// At least so many commands of the run's size a second would be done if the disk took no time; 0:
// unknown.
double limit_without_disk(const struct limit_figures *f);
// A line without its newline: "the disk; without it ...". Returns ret.
enum { LIMIT_TEXT = 240 };
const char *limit_text(const struct limit_figures *f, char ret[LIMIT_TEXT]);
