// SPDX-License-Identifier: BSD-2-Clause
// READ and WRITE (SBC-3 5.8 to 5.11, 5.32 to 5.35). Task's worker.
//
// The protocol accesses a RAM disk's memory directly: a read ends before this function returns, a
// write when the protocol has stored the bytes. Other backstores use pool buffers.
//
// MAXIMUM TRANSFER LENGTH is advice (iPXE's driver for UEFI does not read it): a longer command is
// served in pieces of that length. Each looks again whether it may use the medium, as each command
// does; no order is promised between the blocks of one command.
#include "target/scsi/sbc/read_write.h"

#include "target/scsi/handler.h"
#include "target/scsi/nexus.h"
#include "target/scsi/sbc/commands.h"
#include "target/scsi/sbc/lba.h"

// t->sg becomes len bytes of the disk's memory, after those of earlier pieces.
static void sg_in_place(struct task *t, uint8_t *memory, uint32_t len)
{
	uint8_t *at = memory + (t->lba << t->lu->block_shift) + t->moved;
	t->sg[0] = (struct sg){ .addr = at, .len = len };
	t->nsg = len ? 1 : 0;
	t->in_place = true;
}

// The disk's own memory, if the transport is to move it as it is: all pieces, or none.
static uint8_t *memory_in_place(const struct task *t)
{
	bool is_buffered = t->moved ? !t->in_place : t->nexus->info.is_buffered;
	return is_buffered ? NULL : lu_memory(t->lu);
}

static uint64_t whole_blocks(const struct task *t, uint64_t bytes)
{
	uint64_t mask = t->lu->block_size - 1;
	return (bytes + mask) & ~mask;
}

// How many of left bytes the next piece has: whole blocks, unless it is the last. The first one has
// all that comes unsolicited, and no other one is longer: they use its buffers.
static uint32_t piece_of(const struct task *t, uint64_t left)
{
	const struct lu *lu = t->lu;
	uint64_t most = (uint64_t)lu_max_transfer(lu) << lu->block_shift;
	if (left <= most || t->is_internal)
		return (uint32_t)left;
	if (t->moved && !t->in_place && most > t->buffer_len)
		most = t->buffer_len;
	if (!t->moved && t->expected_out && most < t->nexus->info.unsolicited)
		most = whole_blocks(t, t->nexus->info.unsolicited);
	return (uint32_t)(left < most ? left : most);
}

// Submits op for the piece in t->sg, which is whole blocks.
static void piece_io(struct task *t, enum bs_op op, uint32_t flags, void (*next)(struct task *t))
{
	unsigned shift = t->lu->block_shift;
	uint32_t len = op == BS_READ ? t->buffer_len : t->fetch_len;
	task_io(t, op, t->lba + (t->moved >> shift), len >> shift, flags, next);
}

// --- READ ---

static uint32_t read_len(const struct task *t)
{
	return t->wanted < t->expected_in ? (uint32_t)t->wanted : t->expected_in;
}

static void read_piece(struct task *t);

// A piece of len bytes is in t->sg.
static void send_piece(struct task *t, uint32_t len)
{
	if (len < read_len(t) - t->moved) {
		task_send_part(t, len, read_piece);
		return;
	}
	t->data_in = len;
	task_good(t);
}

static void read_done(struct task *t)
{
	uint32_t left = read_len(t) - t->moved;
	send_piece(t, t->buffer_len < left ? t->buffer_len : left);
}

static void read_into_buffers(struct task *t)
{
	piece_io(t, BS_READ, 0, read_done);
}

static void read_piece(struct task *t)
{
	uint32_t len = piece_of(t, read_len(t) - t->moved);
	uint8_t *memory = memory_in_place(t);
	if (memory)
		sg_in_place(t, memory, len);
	if (memory || !len)
		send_piece(t, len);
	else // whole blocks, even if the initiator has room for only a part of the last one
		task_buffers(t, whole_blocks(t, len), read_into_buffers);
}

void read_run(struct task *t)
{
	t->wanted = t->blocks << t->lu->block_shift;
	read_piece(t);
}

// --- WRITE ---

uint32_t write_flags(const struct task *t)
{
	return t->fua || !lu_is_write_cached(t->lu) ? BS_FUA : 0;
}

bool write_cut_to_announced(struct task *t)
{
	t->wanted = t->blocks << t->lu->block_shift;
	if (t->expected_out >= t->wanted)
		return true;
	if (t->expected_out & (t->lu->block_size - 1)) {
		task_check(t, SENSE_INVALID_FIELD_IU, NULL);
		return false;
	}
	t->blocks = t->expected_out >> t->lu->block_shift;
	return true;
}

static void write_cached(struct task *t)
{
	if (lu_is_write_cached(t->lu))
		task_good(t);
	else
		task_io(t, BS_FLUSH, 0, 0, 0, task_good);
}

static void write_piece(struct task *t);

// The piece in t->sg is on the medium, or in its cache.
static void piece_written(struct task *t)
{
	if (t->moved + (uint64_t)t->fetch_len < t->blocks << t->lu->block_shift) {
		t->moved += t->fetch_len;
		write_piece(t);
	} else if (t->in_place || (t->io.flags & BS_FUA && (t->fua || !t->moved))) {
		task_good(t);
	} else {
		write_cached(t); // of which a piece may have gone there
	}
}

static void write_buffers(struct task *t)
{
	piece_io(t, BS_WRITE, write_flags(t), piece_written);
}

static void write_piece(struct task *t)
{
	uint32_t len = piece_of(t, (t->blocks << t->lu->block_shift) - t->moved);
	uint8_t *memory = memory_in_place(t);
	if (memory) {
		sg_in_place(t, memory, len);
		task_fetch_in_place(t, len, piece_written);
	} else {
		task_fetch(t, len, write_buffers);
	}
}

void write_run(struct task *t)
{
	if (!write_cut_to_announced(t))
		return;
	if (t->blocks)
		write_piece(t);
	else
		task_good(t);
}
