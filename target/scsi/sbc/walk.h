// SPDX-License-Identifier: BSD-2-Clause
// A command's walk over blocks: shared by commands that take more than one READ or WRITE. A step is
// one I/O or one slice of memory; after a few steps that complete at once the walk yields to the
// worker's loop, to limit stack depth and time, and between steps it checks whether its task was
// aborted. Always on the task's worker.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "backstores/backstore.h"
#include "core/buf.h"
#include "core/worker.h"
#include "target/scsi/sense.h"

struct task;

#define SBC_SLICE (256u << 10) // limit of bytes of a step, where the command can choose

// Stored in task->scratch; a command that needs more embeds it as its first member.
struct sbc_walk {
	struct task *t;
	uint64_t lba, left;    // for the command: position, blocks left
	uint64_t offset;       // for the command: bytes of data-out used so far
	const uint8_t *memory; // the disk's own memory when the walk began, or NULL
	const uint8_t *view;   // data read by sbc_walk_view(): view_blocks blocks from lba on
	uint64_t view_blocks;
	uint8_t *bounce; // sbc_walk_bounce()
	uint32_t bounce_len;
	// private
	struct buf *buf; // bounce is in it; NULL: on the heap
	struct sg sg;
	void (*next)(struct sbc_walk *w);
	struct msg yield;
	unsigned steps;
	bool is_cached;	   // some of what it wrote is in the cache
	bool *done_inline; // used while submit runs: the I/O is done
};

// A zeroed walk of size bytes (sizeof a struct that begins with sbc_walk), over the task's
// lba and blocks. NULL: no memory, the task has ended with BUSY.
void *sbc_walk_new(struct task *t, size_t size);

// Gets a bounce buffer for len bytes, at most SBC_SLICE; a page if memory is short. It is charged
// to the task's nexus. False: no memory, the walk has ended with BUSY.
bool sbc_walk_bounce(struct sbc_walk *w, uint64_t len);

// Performs op over [lba, lba + blocks) with sg (NULL, 0 for operations without data), then runs
// next. On failure the walk ends by task_fail_io(). The list must stay valid until next.
void sbc_walk_io(struct sbc_walk *w, enum bs_op op, struct sg *sg, uint32_t nsg, uint64_t lba,
		 uint64_t blocks, uint32_t flags, void (*next)(struct sbc_walk *w));

// Reads a slice from w->lba on, at most w->left blocks, and runs next with view and
// view_blocks set. A RAM disk's memory is viewed directly; else the bounce buffer, which must
// exist, is filled.
void sbc_walk_view(struct sbc_walk *w, void (*next)(struct sbc_walk *w));
// Advances by the viewed blocks; true while blocks are left.
bool sbc_walk_advance(struct sbc_walk *w);

// End the walk and the task with GOOD, after a flush where blocks were changed without BS_FUA and
// there is no write cache (any more); the walk is gone afterwards (a frozen range is thawed by the
// task's end).
void sbc_walk_finish(struct sbc_walk *w);
void sbc_walk_check(struct sbc_walk *w, uint32_t code, const struct sense_extra *extra);

// Compares len bytes at with with the scatter list from offset on. Returns the number of equal
// bytes: len if all are.
size_t sbc_sg_compare(const struct sg *sg, uint32_t nsg, uint64_t offset, const uint8_t *with,
		      size_t len);
// Fills out (room for nsg entries) with the len bytes of sg from offset on; sg still owns the
// buffers. Returns the number of entries.
uint32_t sbc_sg_slice(struct sg *out, const struct sg *sg, uint32_t nsg, uint64_t offset,
		      uint64_t len);
