// SPDX-License-Identifier: BSD-2-Clause
// A load: a number of commands in flight on one session, each followed by another one, or started
// at a fixed rate, for some time. The commands are driven on the session's worker, from the ends of
// others; the program's thread waits.
#pragma once

#include <semaphore.h>

#include "initiator/bench/histogram.h"
#include "initiator/sync.h"

struct load;

struct load_cmd {
	struct scsi_cmd cmd;
	struct load *load;
	struct load_cmd *next_free; // at a rate: not in flight
	uint64_t start_ns;	    // at a rate: when it should have started
	uint8_t *buf;		    // of the caller; may be NULL
};

// A second of a run.
struct load_second {
	uint64_t reads, writes; // good commands; others than writes are reads
	double p99_us;
};

struct load {
	// Set by the caller; the rest is zero.
	struct scsi_sync *sync;
	struct load_cmd *cmds; // depth of them, with their buf
	unsigned depth;
	uint64_t time_ns;     // how long commands are submitted
	uint64_t interval_ns; // between two starts; 0: at the end of another one
	uint64_t failed_max;  // it ends after so many failures
	// Room for so many of the run's seconds; 0: none are noted.
	struct load_second *seconds;
	unsigned seconds_max;
	// Fills cmd with the next command (scsi_cmd_set()). On the session's worker.
	void (*next)(struct load *l, struct load_cmd *c);
	// Whether an ended command did what it should. On the session's worker.
	bool (*is_good)(const struct load *l, const struct scsi_cmd *c);
	void *arg; // of the caller

	// The result of load_run().
	uint64_t begin_ns, last_ns;   // the last good command ended at last_ns
	uint64_t failed;	      // without those that an interruption cancelled
	uint64_t unsent;	      // at a rate: were due and had no place in flight at the end
	struct scsi_cmd first_failed; // its response
	uint64_t last_bytes;	      // data that the last good command transferred
	// Shares of the time, 0 to 1: the worker's thread worked; it could have, but others had its
	// CPU.
	double busy, waited;
	struct histogram reads, writes; // of the good commands

	// private
	unsigned flying, second_count; // second_count: complete ones, written atomically
	uint64_t end_ns, due_ns, second_end_ns;
	struct load_cmd *free;
	struct timer timer;
	struct load_second second;
	struct histogram second_histogram;
	struct load_clock {
		uint64_t ns, cpu_ns, waited_ns, polled_ns;
	} begin;
	sem_t over;
};

// Starts the load; load_wait() follows. The program's thread, as for all here.
void load_start(struct load *l);
// Waits until all commands have ended, at most until the given time of clock_ns() or a signal;
// false: they have not. The worker does not use l
// after true.
bool load_wait(struct load *l, uint64_t until_ns);
// The seconds that are complete now.
unsigned load_seconds(const struct load *l);
// Runs the load; returns when all of its commands have ended.
void load_run(struct load *l);
// Good commands, and those a second (0: none).
uint64_t load_count(const struct load *l);
double load_rate(const struct load *l);
