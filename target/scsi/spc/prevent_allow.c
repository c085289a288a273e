// SPDX-License-Identifier: BSD-2-Clause
// PREVENT ALLOW MEDIUM REMOVAL (SPC-4 6.17). Task's worker.
#include "target/scsi/lu_state.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/spc/commands.h"
#include "target/scsi/task_status.h"

bool prevent_allow_is_available(const struct lu *lu)
{
	return lu_setting(&lu->attr.removable);
}

void prevent_allow_run(struct task *t)
{
	uint8_t prevent = t->cdb[4] & 0x03;
	if (prevent & 0x02) { // obsolete: media changers
		task_invalid_cdb(t, 4, 1);
		return;
	}
	if (!prevent) {
		nexus_lun_allow_removal(t->nl);
	} else if (!t->nl->prevents_removal) {
		t->nl->prevents_removal = true;
		__atomic_add_fetch(&t->lu->prevented, 1, __ATOMIC_RELAXED);
	}
	task_good(t);
}
