// SPDX-License-Identifier: BSD-2-Clause
// A line that shows a progress, as wide as there is room. A pure function, any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { PROGRESS_LINE_MAX = 256, PROGRESS_NOTE_MAX = 80 };

struct progress_state {
	const char *what;
	bool is_time;	// done and total are nanoseconds, else bytes
	uint64_t total; // 0: unknown
	uint64_t done;
	double rate;		      // per second, of the last seconds
	double seconds;		      // since the begin
	double stalled;		      // since done has grown
	char note[PROGRESS_NOTE_MAX]; // instead of the rate; empty: none
};

// "write [####----]  45%  1.4GiB of 3.0GiB  512.0 MB/s  0:03 left" in less than that many columns:
// what does not fit is left out, the least important first. 0 columns: without a bar, all of it.
void progress_line(const struct progress_state *s, unsigned columns, char ret[PROGRESS_LINE_MAX]);
