// SPDX-License-Identifier: BSD-2-Clause
// READ DEFECT DATA(10) and (12) (SBC-3 5.13, 5.14). The storage handles its defects itself; the
// lists here are valid and empty. Task's worker.
#include <string.h>

#include "target/scsi/sbc/commands.h"
#include "target/scsi/task_status.h"
#include "transport/wire/be.h"

// REQ_PLIST, REQ_GLIST and the format: at the same positions in the response.
#define REQUEST_BITS 0x1f

void read_defect_data10_run(struct task *t)
{
	uint8_t header[4] = { 0, t->cdb[2] & REQUEST_BITS };
	task_reply(t, header, sizeof header, get_be16(t->cdb + 7));
}

void read_defect_data12_run(struct task *t)
{
	uint8_t header[8] = { 0, t->cdb[1] & REQUEST_BITS };
	task_reply(t, header, sizeof header, get_be32(t->cdb + 6));
}
