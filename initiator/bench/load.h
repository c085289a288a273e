// SPDX-License-Identifier: BSD-2-Clause
// A load: a number of commands in flight on one session, each followed by another one, for some
// time. The commands are driven on the session's worker; the program's thread waits.
#pragma once

#include <semaphore.h>

#include "initiator/bench/histogram.h"
#include "initiator/sync.h"

struct load;

struct load_cmd {
	struct scsi_cmd cmd;
	struct load *load;
	uint64_t start_ns;
	uint8_t *buf; // of the caller; may be NULL
};

struct load {
	// Set by the caller; the rest is zero.
	struct scsi_sync *sync;
	struct load_cmd *cmds; // depth of them, with their buf
	unsigned depth;
	uint64_t time_ns;    // how long commands are submitted
	uint64_t failed_max; // it ends after so many failures
	// Fills cmd with the next command (scsi_cmd_set()). On the session's worker.
	void (*next)(struct load *l, struct load_cmd *c);
	// Whether an ended command did what it should. On the session's worker.
	bool (*is_good)(const struct load *l, const struct scsi_cmd *c);
	void *arg; // of the caller

	// The result of load_run().
	uint64_t begin_ns, last_ns;   // the last good command ended at last_ns
	uint64_t failed;	      // without those that an interruption cancelled
	struct scsi_cmd first_failed; // its response
	uint64_t last_bytes;	      // data that the last good command transferred
	// Shares of the time, 0 to 1: the worker's thread worked; it could have, but others had its
	// CPU.
	double busy, waited;
	struct histogram histogram; // of the good commands

	// private
	unsigned flying;
	uint64_t end_ns;
	struct load_clock {
		uint64_t ns, cpu_ns, waited_ns, polled_ns;
	} begin;
	sem_t over;
};

// Runs the load; returns when all of its commands have ended. The program's thread. As the worker
// may still be inside the post that woke it, free l only after the session's end, or another call
// to the worker.
void load_run(struct load *l);
// Good commands a second; 0: none.
double load_rate(const struct load *l);
