// SPDX-License-Identifier: BSD-2-Clause
// WRITE ATOMIC(16) (SBC-4 5.49). All data is in memory before the first block changes, and the
// range is frozen on every worker while it is written, so that no other command sees a part
// of the write. This does not cover power failures: a RAM disk loses everything, a file or block
// device may keep a part of the write unless it reports otherwise (bs_limits.atomic_write_max);
// atomic_write_kib is the administrator's declaration for the rest. Task's worker.
#include "target/scsi/freeze.h"
#include "target/scsi/handler.h"
#include "target/scsi/sbc/commands.h"
#include "target/scsi/sbc/limits.h"
#include "target/scsi/sbc/read_write.h"
#include "target/scsi/sbc/walk.h"
#include "transport/wire/be.h"

static void atomic_frozen(struct task *t)
{
	struct sbc_walk *w = sbc_walk_new(t, sizeof *w);
	if (w)
		sbc_walk_io(w, BS_WRITE, t->sg, t->nsg, t->lba, t->blocks, write_flags(t),
			    sbc_walk_finish);
}

static void atomic_fetched(struct task *t)
{
	lu_freeze(t, t->lba, t->blocks, atomic_frozen);
}

static bool is_multiple(uint64_t n, uint32_t unit)
{
	return unit < 2 || n % unit == 0;
}

// The CDB byte of the field that exceeds a limit of VPD page B0h, or 0.
static unsigned atomic_bad_field(const struct task *t, const struct sbc_limits *limits)
{
	enum { LBA = 2, BOUNDARY = 10, LENGTH = 12 };
	uint32_t boundary = get_be16(t->cdb + BOUNDARY);
	if (!is_multiple(t->lba, limits->atomic_alignment))
		return LBA;
	if (!is_multiple(t->blocks, limits->atomic_granularity))
		return LENGTH;
	if (!boundary)
		return t->blocks > limits->atomic_max ? LENGTH : 0;
	// A write may be split at a boundary; ours never is, which is permitted.
	if (boundary > limits->atomic_boundary ||
	    !is_multiple(boundary, limits->atomic_granularity))
		return BOUNDARY;
	return t->blocks > limits->atomic_max_with_boundary ? LENGTH : 0;
}

void write_atomic_run(struct task *t)
{
	struct sbc_limits limits = sbc_limits_of(t->lu);
	unsigned bad = atomic_bad_field(t, &limits);
	if (bad)
		task_invalid_cdb(t, bad, -1);
	else if (t->blocks == 0)
		task_good(t);
	else
		task_fetch(t, t->blocks << t->lu->block_shift, atomic_fetched);
}
