// SPDX-License-Identifier: BSD-2-Clause
// SYNCHRONIZE CACHE(10) and (16) (SBC-3 5.22, 5.23). Task's worker.
#include "target/scsi/handler.h"
#include "target/scsi/sbc/commands.h"

// Also with IMMED, status is sent when the data is on the medium: the bit permits an early status,
// but a late one can report errors.
void synchronize_cache_run(struct task *t)
{
	if (!lu_bs(t->lu)->limits.has_write_cache)
		task_good(t);
	else
		task_io(t, BS_FLUSH, 0, 0, 0, task_good);
}
