// SPDX-License-Identifier: BSD-2-Clause
// Persistent reservations (SPC-4 5.13, 6.15, 6.16) and RESERVE/RELEASE (SPC-2 7.21): the part of a
// logical unit, and the check on the I/O path.
//
// Registrations and the reservation are one immutable, refcounted table (table.h). The LU's home
// worker creates the next table from the last one, writes it to the APTPL file if requested, stores
// it in pr_state under lu->lock and passes it to every channel in a round; then the command
// completes. Commands run one after the other, FIFO (state.h).
#pragma once

#include "target/scsi/lu_channel.h"
#include "target/scsi/lu_part.h"
#include "target/scsi/nexus_lun.h"

bool pr_conflict_slow(struct nexus_lun *nl, const struct opcode_row *row);

// True: the command ends with RESERVATION CONFLICT. Nexus's worker.
static inline bool pr_conflict(struct nexus_lun *nl, const struct opcode_row *row)
{
	if (__builtin_expect(!nl->channel->pr && !nl->channel->reserved_by, 1))
		return false;
	return pr_conflict_slow(nl, row);
}

extern const struct lu_part pr_part;
