// SPDX-License-Identifier: BSD-2-Clause
// Aborts of several tasks of a channel; task_abort() ends one. Worker of the channel.
#pragma once

#include "target/scsi/task.h"

struct lu_channel;

// Aborts the tasks of c. sends_status() returns whether the initiator of a task gets TASK ABORTED;
// NULL: no.
void tasks_abort(struct lu_channel *c, bool (*sends_status)(const struct task *t, const void *arg),
		 const void *arg);
// Aborts the tasks of nl, at no cost for those of others. with_status: the initiator, which has not
// asked for it, gets TASK ABORTED. The caller keeps nl.
void tasks_abort_nexus(struct nexus_lun *nl, bool with_status);
