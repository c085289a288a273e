// SPDX-License-Identifier: BSD-2-Clause
// ORWRITE(16) (SBC-3 5.7): the medium becomes the OR of itself and the data-out. The range is
// frozen on every worker while slices of it are read, combined and written. Task's worker.
#include "target/scsi/freeze.h"
#include "target/scsi/handler.h"
#include "target/scsi/sbc/commands.h"
#include "target/scsi/sbc/lba.h"
#include "target/scsi/sbc/read_write.h"
#include "target/scsi/sbc/walk.h"

struct orwrite {
	struct sbc_walk walk;
	struct sg out; // the combined slice
};

static void orwrite_combine(struct sbc_walk *w);

static void orwrite_written(struct sbc_walk *w)
{
	if (sbc_walk_advance(w))
		sbc_walk_view(w, orwrite_combine);
	else
		sbc_walk_finish(w);
}

// to = from | the data at offset.
static void or_bytes(uint8_t *to, const uint8_t *from, const struct sg *sg, uint64_t offset,
		     size_t len)
{
	for (; offset >= sg->len; sg++)
		offset -= sg->len;
	for (size_t done = 0; done < len; sg++, offset = 0) {
		size_t n = sg->len - offset;
		if (n > len - done)
			n = len - done;
		const uint8_t *data = sg->addr + offset;
		for (size_t i = 0; i < n; i++)
			to[done + i] = from[done + i] | data[i];
		done += n;
	}
}

static void orwrite_combine(struct sbc_walk *w)
{
	struct orwrite *o = (struct orwrite *)w;
	struct task *t = w->t;
	size_t len = w->view_blocks << t->lu->block_shift;
	or_bytes(w->bounce, w->view, t->sg, w->offset, len);
	o->out = (struct sg){ .addr = w->bounce, .len = (uint32_t)len };
	sbc_walk_io(w, BS_WRITE, &o->out, 1, w->lba, w->view_blocks, write_flags(t),
		    orwrite_written);
}

static void orwrite_frozen(struct task *t)
{
	struct orwrite *o = sbc_walk_new(t, sizeof *o);
	if (o && sbc_walk_bounce(&o->walk, t->blocks << t->lu->block_shift))
		sbc_walk_view(&o->walk, orwrite_combine);
}

static void orwrite_fetched(struct task *t)
{
	lu_freeze(t, t->lba, t->blocks, orwrite_frozen);
}

void orwrite_run(struct task *t)
{
	if (!lba_check_transfer(t))
		return;
	if (t->blocks == 0)
		task_good(t);
	else
		task_fetch(t, t->blocks << t->lu->block_shift, orwrite_fetched);
}
