// SPDX-License-Identifier: BSD-2-Clause
// A run of farblock-initiator bench: what is shared by its files. The program's thread, unless
// noted otherwise.
#pragma once

#include "initiator/bench/limit.h"
#include "initiator/bench/load.h"
#include "initiator/tool/tool.h"

enum { BENCH_SESSIONS_MAX = 32, BENCH_SECONDS_MAX = 86400 + 60 };

struct bench_op {
	const char *name;
	bool is_random;
	unsigned mix; // per cent of reads, BENCH_MIXED: --mix
};
enum { BENCH_MIXED = 101 };

struct bench;

// A session of the run. During the run it is its worker's.
struct bench_session {
	struct bench *bench;
	struct scsi_sync *sync;
	struct load load;
	uint64_t next, random;
};

struct bench {
	struct tool_disk disk;
	const struct bench_op *op;
	unsigned mix, depth, session_count;
	uint64_t rate; // of all sessions; 0: as fast as they can
	uint32_t bytes;
	uint64_t first, slots; // in units of bytes
	struct bench_session *sessions;
	struct scsi_sync *more[BENCH_SESSIONS_MAX - 1];
	struct tool_memory *memory;
	uint64_t begin_ns;

	// The result.
	struct limit_figures limit;
	uint64_t cpu_ns; // of the whole program during the run
	struct histogram reads, writes;
	uint64_t failed, unsent;
	double time_s, iops;
	struct load_second *seconds; // of all sessions, second_count; p99_us: of the slowest one
	unsigned second_count;
};

// bench_report.c: the result as text or, with --json, as an object.
void bench_print(const struct tool *t, const struct bench *b);
// Shows the second that has just ended beside the progress, and as a line of its own.
void bench_show_second(const struct bench *b, const struct load_second *s, unsigned at,
		       bool is_line);
// Whether the file of --svg can be written, before a long run; it is created, its content is kept.
// Negative with a text.
int bench_check_svg(const char *path, struct err *e);
// --svg: writes the picture. -EIO, ... with a text.
int bench_draw(const struct tool *t, const struct bench *b, struct err *e);
