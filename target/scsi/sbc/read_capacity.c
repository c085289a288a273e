// SPDX-License-Identifier: BSD-2-Clause
// READ CAPACITY(10) and (16) (SBC-3 5.15, 5.16). Task's worker.
#include "target/scsi/lu_state.h"
#include "target/scsi/sbc/commands.h"
#include "target/scsi/sbc/limits.h"
#include "target/scsi/task_status.h"
#include "transport/wire/be.h"

// The last block of a file truncated to 0 by another program would be 2^64-1.
static bool check_blocks(struct task *t)
{
	if (lu_capacity(t->lu))
		return true;
	task_check(t, SENSE_MEDIUM_CORRUPTED, NULL);
	return false;
}

void read_capacity10_run(struct task *t)
{
	uint8_t d[8];
	uint64_t last = lu_capacity(t->lu) - 1;
	if (!(t->cdb[8] & 0x01) && get_be32(t->cdb + 2)) {
		task_invalid_cdb(t, 2, -1);
		return;
	}
	if (!check_blocks(t))
		return;
	put_be32(d, last < UINT32_MAX ? (uint32_t)last : UINT32_MAX);
	put_be32(d + 4, t->lu->block_size);
	task_reply(t, d, sizeof d, sizeof d);
}

void read_capacity16_run(struct task *t)
{
	uint8_t d[32] = { 0 };
	struct sbc_limits l = sbc_limits_of(t->lu);
	if (!check_blocks(t))
		return;
	put_be64(d, lu_capacity(t->lu) - 1);
	put_be32(d + 8, t->lu->block_size);
	d[13] = l.lbppb_exponent;
	d[14] = (uint8_t)((l.is_thin ? 0x80 : 0) | (l.is_thin && l.unmap_zeroes ? 0x40 : 0));
	task_reply(t, d, sizeof d, get_be32(t->cdb + 10));
}
