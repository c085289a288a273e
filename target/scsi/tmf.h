// SPDX-License-Identifier: BSD-2-Clause
// Task management functions (SAM-5 7). Single tasks are the protocol's to find: it calls
// task_abort(). What concerns a whole logical unit goes through here, to every worker.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "target/scsi/lu_round.h"
#include "target/scsi/taskset.h"

// By a write-protected path CLEAR TASK SET is denied, and a reset ends the tasks of its own nexus
// only.
enum tmf_function {
	TMF_ABORT_TASK_SET, // this nexus's tasks on the LUN
	TMF_CLEAR_TASK_SET, // every nexus's tasks on the LUN
	TMF_LU_RESET,
	TMF_TARGET_RESET, // every LU that the nexus's map holds
	TMF_NEXUS_RESET,  // this nexus's tasks and reservations on all of them (SAM-5 6.3.4)
	TMF_QUERY_TASK_SET,
};

enum tmf_result {
	TMF_COMPLETE,
	TMF_SUCCEEDED, // QUERY TASK SET found one
	TMF_NO_LUN,
	TMF_DENIED, // the path is write-protected, and the function is for all nexuses
};

struct tmf {
	struct nexus *nexus;
	enum tmf_function function;
	uint64_t lun;
	// Runs on the nexus's worker after every affected task has reached done(). After
	// tmf_lose_nexus() the result means nothing.
	void (*done)(struct tmf *t, enum tmf_result result);
	// private
	struct lu_round round;
	struct aborts_wait wait;
	struct msg msg;
	struct worker *worker; // of nexus
	uint64_t nexus_id;
	bool has_lost_nexus;
	struct nexus_lun *nl;
	struct lu *lu;
	unsigned next_lun;
};

// Starts t (the caller keeps the memory until done). Nexus's worker.
void tmf_submit(struct tmf *t);
// The nexus of t, which is under way, ends (SAM-5 6.3.4): t refers to it no longer, and resets
// nothing more when the tasks that it aborts have ended. done() runs as ever. Nexus's worker.
void tmf_lose_nexus(struct tmf *t);
