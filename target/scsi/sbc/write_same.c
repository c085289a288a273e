// SPDX-License-Identifier: BSD-2-Clause
// WRITE SAME(10) and (16) (SBC-3 5.42, 5.43). Zeroes use the backstore's operation (unmapping, if
// UNMAP is set and unmapped blocks read as zeroes); any other block is repeated in a bounce buffer
// and written from there, a slice at a time. Task's worker.
#include <string.h>

#include "target/scsi/handler.h"
#include "target/scsi/nexus.h"
#include "target/scsi/opcode.h"
#include "target/scsi/sbc/commands.h"
#include "target/scsi/sbc/limits.h"
#include "target/scsi/sbc/read_write.h"
#include "target/scsi/sbc/walk.h"

// CDB byte of the flags, and bits in it.
enum { WS_NDOB = 0x01, WS_LBDATA = 0x02, WS_PBDATA = 0x04, WS_UNMAP = 0x08, WS_ANCHOR = 0x10 };

#define REPEATS	     4u		 // of the bounce buffer in one write
#define ZEROES_SLICE (64u << 20) // bytes of one BS_UNMAP or BS_WRITE_ZEROES

struct write_same {
	struct sbc_walk walk;
	enum bs_op op;	  // of the zeroes
	uint32_t pattern; // bytes of whole blocks in the bounce buffer
	struct sg sg[REPEATS];
};

static unsigned count_byte(const struct task *t)
{
	return t->row->cdb_len == 10 ? 7 : 10;
}

static uint64_t step_blocks(const struct sbc_walk *w, uint64_t bytes)
{
	uint64_t most = bytes >> w->t->lu->block_shift;
	return w->left < most ? w->left : most;
}

static void step_over(struct sbc_walk *w, uint64_t blocks)
{
	w->lba += blocks;
	w->left -= blocks;
}

static void zeroes_next(struct sbc_walk *w)
{
	struct write_same *s = (struct write_same *)w;
	if (!w->left) {
		sbc_walk_finish(w);
		return;
	}
	uint64_t lba = w->lba, blocks = step_blocks(w, ZEROES_SLICE);
	step_over(w, blocks);
	sbc_walk_io(w, s->op, NULL, 0, lba, blocks, write_flags(w->t), zeroes_next);
}

static void pattern_next(struct sbc_walk *w)
{
	struct write_same *s = (struct write_same *)w;
	if (!w->left) {
		sbc_walk_finish(w);
		return;
	}
	uint64_t lba = w->lba, blocks = step_blocks(w, (uint64_t)s->pattern * REPEATS);
	uint64_t len = blocks << w->t->lu->block_shift;
	uint32_t n = 0;
	while (len) {
		uint32_t piece = len < s->pattern ? (uint32_t)len : s->pattern;
		s->sg[n++] = (struct sg){ .addr = w->bounce, .len = piece };
		len -= piece;
	}
	step_over(w, blocks);
	sbc_walk_io(w, BS_WRITE, s->sg, n, lba, blocks, write_flags(w->t), pattern_next);
}

// Fills the bounce buffer with copies of the received block (NULL: zeroes).
static bool pattern_make(struct write_same *s, const uint8_t *block)
{
	struct sbc_walk *w = &s->walk;
	uint32_t size = w->t->lu->block_size;
	uint64_t bytes = w->left << w->t->lu->block_shift;
	if (!sbc_walk_bounce(w, bytes))
		return false;
	uint64_t whole = bytes < w->bounce_len ? bytes : w->bounce_len;
	s->pattern = (uint32_t)(whole / size * size);
	if (!block) {
		memset(w->bounce, 0, s->pattern);
		return true;
	}
	struct worker *worker = task_worker(w->t);
	struct buf_copies *copied = &w->t->nexus->copied;
	buf_copy_for(worker, copied, w->bounce, block, size);
	for (uint32_t done = size; done < s->pattern;) {
		uint32_t n = done < s->pattern - done ? done : s->pattern - done;
		buf_copy_for(worker, copied, w->bounce + done, w->bounce, n);
		done += n;
	}
	return true;
}

static bool is_zero(const uint8_t *p, uint32_t len)
{
	return p[0] == 0 && memcmp(p, p + 1, len - 1) == 0;
}

static void write_same_start(struct task *t)
{
	bool ndob = t->row->cdb_len != 10 && (t->cdb[1] & WS_NDOB);
	const uint8_t *block = ndob ? NULL : t->sg[0].addr;
	struct write_same *s = sbc_walk_new(t, sizeof *s);
	if (!s)
		return;
	bool is_zeroes = !block || is_zero(block, t->lu->block_size);
	bool unmaps = t->cdb[1] & WS_UNMAP && sbc_limits_of(t->lu).unmap_zeroes;
	if (is_zeroes && (unmaps || lu_bs(t->lu)->limits.can_write_zeroes)) {
		s->op = unmaps ? BS_UNMAP : BS_WRITE_ZEROES;
		zeroes_next(&s->walk);
	} else if (pattern_make(s, block)) {
		pattern_next(&s->walk);
	}
}

// False: the task has been ended.
static bool write_same_check(struct task *t)
{
	struct sbc_limits limits = sbc_limits_of(t->lu);
	uint8_t flags = t->cdb[1];
	int bit = -1;
	if ((flags & WS_ANCHOR) && !limits.can_anchor)
		bit = 4;
	else if ((flags & WS_UNMAP) && !limits.can_write_same_unmap)
		bit = 3;
	else if (flags & WS_PBDATA)
		bit = 2;
	else if (flags & WS_LBDATA)
		bit = 1;
	else if ((flags & WS_NDOB) && t->row->cdb_len == 10)
		bit = 0;
	if (bit >= 0) {
		task_invalid_cdb(t, 1, bit);
		return false;
	}
	if ((t->blocks == 0 && limits.wsnz) || t->blocks > limits.max_write_same) {
		task_invalid_cdb(t, count_byte(t), -1);
		return false;
	}
	return true;
}

void write_same_run(struct task *t)
{
	if (!write_same_check(t))
		return;
	if (t->row->cdb_len != 10 && (t->cdb[1] & WS_NDOB)) {
		write_same_start(t);
		return;
	}
	uint32_t size = t->lu->block_size;
	if (t->expected_out > size) {
		// the block would be ambiguous
		t->wanted = size;
		task_check(t, SENSE_INVALID_FIELD_IU, NULL);
		return;
	}
	task_fetch(t, size, write_same_start);
}
