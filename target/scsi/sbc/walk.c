// SPDX-License-Identifier: BSD-2-Clause
// Steps of a walk over blocks, see walk.h. Task's worker.
#include "target/scsi/sbc/walk.h"

#include <stdlib.h>
#include <string.h>

#include "target/scsi/handler.h"
#include "target/scsi/io_log.h"
#include "target/scsi/nexus.h"
#include "target/scsi/sbc/read_write.h"
#include "target/scsi/task_pool.h"
#include "target/scsi/task_priv.h"

#define STEPS_A_ROUND 8 // limit of steps that complete at once, before the walk yields

void *sbc_walk_new(struct task *t, size_t size)
{
	struct sbc_walk *w = task_scratch(t, size);
	if (!w)
		return NULL;
	w->t = t;
	w->lba = t->lba;
	w->left = t->blocks;
	w->memory = lu_memory(t->lu);
	return w;
}

bool sbc_walk_bounce(struct sbc_walk *w, uint64_t len)
{
	uint32_t want = len < SBC_SLICE ? (uint32_t)len : SBC_SLICE;
	w->buf = task_buf_get(w->t, want);
	if (w->buf) {
		w->bounce = w->buf->addr;
	} else {
		// Waiting for pool memory while holding data-out in it could deadlock. So the walk
		// continues in steps of a page from the heap.
		want = BUF_PAGE;
		w->bounce = aligned_alloc(BUF_PAGE, want);
	}
	w->bounce_len = want;
	if (!w->bounce) {
		task_finish(w->t, STATUS_BUSY);
		return false;
	}
	return true;
}

static void drop_bounce(struct sbc_walk *w)
{
	if (w->buf)
		task_buf_put(w->t, w->buf, w->bounce_len);
	else
		free(w->bounce);
	w->buf = NULL;
	w->bounce = NULL;
}

void sbc_walk_finish(struct sbc_walk *w)
{
	struct task *t = w->t;
	drop_bounce(w);
	if (w->is_cached && !t->is_aborted && !lu_is_write_cached(t->lu))
		task_io(t, BS_FLUSH, 0, 0, 0, task_good);
	else
		task_good(t);
}

void sbc_walk_check(struct sbc_walk *w, uint32_t code, const struct sense_extra *extra)
{
	drop_bounce(w);
	task_check(w->t, code, extra);
}

static void go_on(struct sbc_walk *w)
{
	if (w->t->is_aborted)
		sbc_walk_finish(w);
	else
		w->next(w);
}

static void yielded(struct msg *m)
{
	struct sbc_walk *w = container_of(m, struct sbc_walk, yield);
	w->steps = 0;
	go_on(w);
}

// A step completed without a round through the loop.
static void step_inline(struct sbc_walk *w)
{
	if (++w->steps < STEPS_A_ROUND) {
		go_on(w);
		return;
	}
	w->yield.fn = yielded;
	worker_post(task_worker(w->t), &w->yield);
}

static void io_done(struct bs_io *io, int res)
{
	struct task *t = container_of(io, struct task, io);
	struct sbc_walk *w = t->scratch;
	bool is_inline = w->done_inline != NULL;
	if (is_inline)
		*w->done_inline = true;
	w->done_inline = NULL;
	task_storage_ends(t);
	io_log_note(t->lu, io, res);
	if (res < 0) {
		uint64_t lba = io->offset >> t->lu->block_shift;
		drop_bounce(w);
		task_fail_io(t, res, lba);
	} else if (is_inline) {
		step_inline(w);
	} else {
		w->steps = 0;
		go_on(w);
	}
}

void sbc_walk_io(struct sbc_walk *w, enum bs_op op, struct sg *sg, uint32_t nsg, uint64_t lba,
		 uint64_t blocks, uint32_t flags, void (*next)(struct sbc_walk *w))
{
	struct task *t = w->t;
	bool is_change = op == BS_WRITE || op == BS_WRITE_ZEROES || op == BS_UNMAP;
	w->is_cached |= is_change && !(flags & BS_FUA);
	t->io.op = op;
	t->io.flags = flags;
	t->io.offset = lba << t->lu->block_shift;
	t->io.length = blocks << t->lu->block_shift;
	t->io.sg = sg;
	t->io.nsg = nsg;
	t->io.done = io_done;
	t->io.copied = &t->nexus->copied;
	w->next = next;
	t->state = TASK_RUNNING;
	task_storage_begins(t);
	bool done_inline = false;
	w->done_inline = &done_inline;
	backstore_submit(lu_bs(t->lu), &t->io);
	if (!done_inline)
		w->done_inline = NULL;
	// else the task may be freed
}

void sbc_walk_view(struct sbc_walk *w, void (*next)(struct sbc_walk *w))
{
	const struct lu *lu = w->t->lu;
	uint64_t most = (w->memory ? SBC_SLICE : w->bounce_len) >> lu->block_shift;
	w->view_blocks = w->left < most ? w->left : most;
	if (w->memory) {
		w->view = w->memory + (w->lba << lu->block_shift);
		w->next = next;
		step_inline(w);
		return;
	}
	w->view = w->bounce;
	w->sg = (struct sg){ .addr = w->bounce,
			     .len = (uint32_t)(w->view_blocks << lu->block_shift),
			     .buf = w->buf };
	sbc_walk_io(w, BS_READ, &w->sg, 1, w->lba, w->view_blocks, 0, next);
}

bool sbc_walk_advance(struct sbc_walk *w)
{
	w->lba += w->view_blocks;
	w->left -= w->view_blocks;
	w->offset += w->view_blocks << w->t->lu->block_shift;
	return w->left > 0;
}

static size_t equal_bytes(const uint8_t *a, const uint8_t *b, size_t len)
{
	if (memcmp(a, b, len) == 0)
		return len;
	size_t i = 0;
	while (a[i] == b[i])
		i++;
	return i;
}

size_t sbc_sg_compare(const struct sg *sg, uint32_t nsg, uint64_t offset, const uint8_t *with,
		      size_t len)
{
	size_t done = 0;
	for (uint32_t i = 0; i < nsg && done < len; i++) {
		if (offset >= sg[i].len) {
			offset -= sg[i].len;
			continue;
		}
		size_t n = sg[i].len - offset;
		if (n > len - done)
			n = len - done;
		size_t equal = equal_bytes(sg[i].addr + offset, with + done, n);
		done += equal;
		if (equal < n)
			break;
		offset = 0;
	}
	return done;
}

uint32_t sbc_sg_slice(struct sg *out, const struct sg *sg, uint32_t nsg, uint64_t offset,
		      uint64_t len)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < nsg && len > 0; i++) {
		if (offset >= sg[i].len) {
			offset -= sg[i].len;
			continue;
		}
		uint64_t n = sg[i].len - offset;
		if (n > len)
			n = len;
		out[count++] = (struct sg){ .addr = sg[i].addr + offset,
					    .len = (uint32_t)n,
					    .buf = sg[i].buf };
		len -= n;
		offset = 0;
	}
	return count;
}
