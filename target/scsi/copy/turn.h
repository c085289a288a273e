// SPDX-License-Identifier: BSD-2-Clause
// The turns of copies: how many run at once. Worker of the nexus.
#pragma once

#include "target/scsi/task.h"

// Limits of concurrent copies, in this process and of one nexus, as reported by VPD page 8Fh and
// RECEIVE COPY OPERATING PARAMETERS. Further commands wait for their turn.
#define COPIES_MAX	 64u
#define COPIES_NEXUS_MAX 16u

#define COPY_CHUNK (256u << 10) // bytes of the buffer of each

// Releases the data that t has fetched, waits until t's nexus may start another copy, gets the
// buffer, charged to the nexus, and runs next. An aborted task ends instead; so does a task with
// BUSY if other nexuses use all copies.
void copy_await_turn(struct task *t, void (*next)(struct task *t));
// After next: the copy has ended, or was not started. copy_job_start() calls it itself.
void copy_turn_over(struct task *t);
