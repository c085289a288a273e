// SPDX-License-Identifier: BSD-2-Clause
// A run as an SVG picture: throughput over time, the distribution of latencies. Its colours follow
// the reader's light or dark scheme. Any thread; blocks while it writes.
#pragma once

#include <stdio.h>

#include "initiator/bench/load.h"

struct svg_run {
	const char *title; // any text
	uint32_t bytes;	   // of a command
	const struct load_second *seconds;
	unsigned second_count;
	const struct histogram *reads, *writes;
};

// Errors: those of f.
void svg_write(FILE *f, const struct svg_run *run);
// The end of an axis that shows max and has four steps: a multiple of a power of ten whose quarter
// has at most two digits.
double svg_axis_end(double max);
