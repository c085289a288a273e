// SPDX-License-Identifier: BSD-2-Clause
// VERIFY(10), (12), (16) (SBC-3 5.29 to 5.31) and WRITE AND VERIFY(10), (12), (16) (SBC-3
// 5.37 to 5.39). Reads go through the backstore: with the page cache, the verified data is that of
// a READ. Task's worker.
#include "target/scsi/handler.h"
#include "target/scsi/sbc/commands.h"
#include "target/scsi/sbc/lba.h"
#include "target/scsi/sbc/read_write.h"
#include "target/scsi/sbc/walk.h"

enum { BYTCHK_NONE, BYTCHK_ALL, BYTCHK_RESERVED, BYTCHK_ONE };

static unsigned bytchk(const struct task *t)
{
	return t->cdb[1] >> 1 & 3;
}

// The number of equal bytes of the view.
static size_t view_equal(const struct sbc_walk *w, size_t len)
{
	const struct task *t = w->t;
	switch (bytchk(t)) {
	case BYTCHK_ALL:
		return sbc_sg_compare(t->sg, t->nsg, w->offset, w->view, len);
	case BYTCHK_ONE:
		for (size_t at = 0; at < len; at += t->lu->block_size) {
			size_t equal =
				sbc_sg_compare(t->sg, t->nsg, 0, w->view + at, t->lu->block_size);
			if (equal < t->lu->block_size)
				return at + equal;
		}
	}
	return len;
}

static void verify_compare(struct sbc_walk *w)
{
	unsigned shift = w->t->lu->block_shift;
	size_t len = w->view_blocks << shift, equal = view_equal(w, len);
	if (equal < len) {
		struct sense_extra x = { .has_information = true,
					 .information = w->lba + (equal >> shift) };
		sbc_walk_check(w, SENSE_MISCOMPARE, &x);
	} else if (sbc_walk_advance(w)) {
		sbc_walk_view(w, verify_compare);
	} else {
		sbc_walk_finish(w);
	}
}

static void verify_medium(struct sbc_walk *w)
{
	struct task *t = w->t;
	if (!w->memory && !sbc_walk_bounce(w, t->blocks << t->lu->block_shift))
		return;
	sbc_walk_view(w, verify_compare);
}

static void verify_fetched(struct task *t)
{
	struct sbc_walk *w = sbc_walk_new(t, sizeof *w);
	if (w)
		verify_medium(w);
}

void verify_run(struct task *t)
{
	if (bytchk(t) == BYTCHK_RESERVED) {
		task_invalid_cdb(t, 1, 2);
		return;
	}
	if (!lba_check_transfer(t))
		return;
	if (t->blocks == 0 || (bytchk(t) == BYTCHK_NONE && lu_memory(t->lu)))
		task_good(t); // memory can always be read
	else if (bytchk(t) == BYTCHK_NONE)
		verify_fetched(t);
	else
		task_fetch(t, (bytchk(t) == BYTCHK_ONE ? 1 : t->blocks) << t->lu->block_shift,
			   verify_fetched);
}

static void write_verify_fetched(struct task *t)
{
	struct sbc_walk *w = sbc_walk_new(t, sizeof *w);
	if (w)
		sbc_walk_io(w, BS_WRITE, t->sg, t->nsg, t->lba, t->blocks, BS_FUA, verify_medium);
}

void write_verify_run(struct task *t)
{
	if (bytchk(t) > BYTCHK_ALL) {
		task_invalid_cdb(t, 1, 2);
		return;
	}
	// Data received directly into the disk's memory would be compared with itself.
	if (lu_memory(t->lu)) {
		write_run(t);
		return;
	}
	if (!lba_check_transfer(t) || !write_cut_to_announced(t))
		return;
	if (t->blocks == 0)
		task_good(t);
	else
		task_fetch(t, t->blocks << t->lu->block_shift, write_verify_fetched);
}
