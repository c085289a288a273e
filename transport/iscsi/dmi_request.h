// SPDX-License-Identifier: BSD-2-Clause
// Common code of the initiator's movers for sending: initiator task
// tags, the header of a SCSI Command, serial numbers. Pure functions over the caller's structs.
// RFC 7143 4.2.2, 11.3.
#pragma once

#include "transport/iscsi/datamover_initiator.h"

// A command's tag is its slot in the mover's table and a generation, which distinguishes commands
// of the same slot. Below DMI_ROLE_TAG.
enum { DMI_SLOT_BITS = 10 };
_Static_assert(DMI_TASKS_MAX == 1 << DMI_SLOT_BITS, "slots fill the lower bits of an ITT");

static inline uint32_t dmi_tag_slot(uint32_t itt)
{
	return itt & ((1u << DMI_SLOT_BITS) - 1);
}

// Resets t for a new start in that slot: next generation of its tag, next CmdSN, no progress.
void dmi_task_begin(struct dmi_task *t, struct dmi_sns *s, uint32_t *generation, uint32_t slot);

// Fills in a zeroed SCSI Command for t. is_final: no unsolicited Data-Out follows.
void dmi_put_command(struct iscsi_scsi_cmd *h, const struct dmi_task *t, const struct dmi_sns *s,
		     bool is_final);

// Fills in CmdSN and ExpStatSN of any other PDU; CmdSN advances unless the PDU is immediate.
void dmi_stamp(struct dmi_sns *s, uint8_t *bhs);
