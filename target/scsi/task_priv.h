// SPDX-License-Identifier: BSD-2-Clause
// Steps of a task for the files that implement tasks, and for what resumes them. Task's worker.
#pragma once

#include "core/counter.h"
#include "target/scsi/lu_channel.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/task.h"

// Continues with t->next, or ends an aborted task.
void task_resume(struct task *t);
// Resumes the tasks of c whose turn has come. The caller holds a reference to the LU.
void task_resume_waiting(struct lu_channel *c);
// Runs next after msecs.
void task_delay(struct task *t, uint32_t msecs, void (*next)(struct task *t));
// Ends the task with the status it has.
void task_complete(struct task *t);

// Around what the backstore does for t: the time counts for the logical unit.
static inline void task_storage_begins(struct task *t)
{
	t->io_ns = worker_now(t->nexus->worker);
}

static inline void task_storage_ends(struct task *t)
{
	counter_add(&t->nl->channel->counters.storage_ns, worker_now(t->nexus->worker) - t->io_ns);
}
