// SPDX-License-Identifier: BSD-2-Clause
// PRE-FETCH(10) and (16) (SBC-3 5.8, 5.9). There is no cache of our own to fill, so the status is
// GOOD (not all blocks are cached), never CONDITION MET. Task's worker.
#include "target/scsi/sbc/commands.h"
#include "target/scsi/task_status.h"

void prefetch_run(struct task *t)
{
	task_good(t);
}
