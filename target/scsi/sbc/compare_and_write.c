// SPDX-License-Identifier: BSD-2-Clause
// COMPARE AND WRITE (SBC-3 5.2): reads the blocks, compares them with the first half of the
// data-out and, if they are equal, writes the second half; no other command sees or changes the
// blocks meanwhile, since the range is frozen on every worker from before the read until after the
// write. Task's worker.
#include "target/scsi/freeze.h"
#include "target/scsi/handler.h"
#include "target/scsi/sbc/commands.h"
#include "target/scsi/sbc/limits.h"
#include "target/scsi/sbc/read_write.h"
#include "target/scsi/sbc/walk.h"

struct caw {
	struct sbc_walk walk;
	struct sg write[]; // t->nsg entries: the second half of the data
};

static void caw_write(struct sbc_walk *w)
{
	struct caw *c = (struct caw *)w;
	struct task *t = w->t;
	uint64_t len = t->blocks << t->lu->block_shift;
	uint32_t n = sbc_sg_slice(c->write, t->sg, t->nsg, len, len);
	sbc_walk_io(w, BS_WRITE, c->write, n, t->lba, t->blocks, write_flags(t), sbc_walk_finish);
}

static void caw_compare(struct sbc_walk *w)
{
	struct task *t = w->t;
	size_t len = w->view_blocks << t->lu->block_shift;
	size_t equal = sbc_sg_compare(t->sg, t->nsg, w->offset, w->view, len);
	if (equal < len) {
		// The first different byte of the data-out.
		struct sense_extra x = { .has_information = true,
					 .information = w->offset + equal };
		sbc_walk_check(w, SENSE_MISCOMPARE, &x);
	} else if (sbc_walk_advance(w)) {
		sbc_walk_view(w, caw_compare);
	} else {
		caw_write(w);
	}
}

static void caw_frozen(struct task *t)
{
	struct caw *c = sbc_walk_new(t, sizeof *c + t->nsg * sizeof c->write[0]);
	if (!c)
		return;
	if (!c->walk.memory && !sbc_walk_bounce(&c->walk, t->blocks << t->lu->block_shift))
		return;
	sbc_walk_view(&c->walk, caw_compare);
}

static void caw_fetched(struct task *t)
{
	lu_freeze(t, t->lba, t->blocks, caw_frozen);
}

void compare_and_write_run(struct task *t)
{
	uint64_t len = t->blocks * 2 << t->lu->block_shift;
	uint64_t most = sbc_limits_of(t->lu).max_compare_and_write;
	// Data for more blocks than the limit: a count that did not fit into its byte.
	if (t->blocks > most || t->expected_out > most * 2 << t->lu->block_shift) {
		task_invalid_cdb(t, 13, -1);
	} else if (t->blocks == 0) {
		task_good(t);
	} else if (t->expected_out > len) {
		// More data than in the CDB: the halves are ambiguous.
		t->wanted = len;
		task_check(t, SENSE_INVALID_FIELD_IU, NULL);
	} else {
		task_fetch(t, len, caw_fetched);
	}
}
