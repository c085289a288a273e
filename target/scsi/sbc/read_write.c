// SPDX-License-Identifier: BSD-2-Clause
// READ and WRITE (SBC-3 5.8 to 5.11, 5.32 to 5.35). Task's worker.
//
// The protocol accesses a RAM disk's memory directly: a read ends before this function returns, a
// write when the protocol has stored the bytes. Other backstores use pool buffers.
#include "target/scsi/sbc/read_write.h"

#include "target/scsi/handler.h"
#include "target/scsi/nexus.h"
#include "target/scsi/sbc/commands.h"
#include "target/scsi/sbc/lba.h"

// t->sg becomes len bytes of the disk's memory from t->lba.
static void sg_in_place(struct task *t, uint8_t *memory, uint32_t len)
{
	t->sg[0] = (struct sg){ .addr = memory + (t->lba << t->lu->block_shift), .len = len };
	t->nsg = len ? 1 : 0;
	t->in_place = true;
}

static void read_done(struct task *t)
{
	t->data_in = t->wanted < t->expected_in ? (uint32_t)t->wanted : t->expected_in;
	task_good(t);
}

static void read_into_buffers(struct task *t)
{
	uint32_t shift = t->lu->block_shift;
	uint64_t blocks = ((uint64_t)t->buffer_len) >> shift;
	task_io(t, BS_READ, t->lba, blocks, 0, read_done);
}

// The disk's own memory, if the transport is to move it as it is.
static uint8_t *memory_in_place(const struct task *t)
{
	return t->nexus->info.is_buffered ? NULL : lu_memory(t->lu);
}

void read_run(struct task *t)
{
	struct lu *lu = t->lu;
	if (!lba_check_transfer(t))
		return;
	uint64_t bytes = t->blocks << lu->block_shift;
	uint32_t len = bytes < t->expected_in ? (uint32_t)bytes : t->expected_in;
	t->wanted = bytes;
	uint8_t *memory = memory_in_place(t);
	if (memory || !len) {
		if (memory)
			sg_in_place(t, memory, len);
		read_done(t);
		return;
	}
	// Whole blocks, even if the initiator has room for only a part of the last one.
	uint64_t whole = (len + (uint64_t)lu->block_size - 1) & ~((uint64_t)lu->block_size - 1);
	task_buffers(t, whole, read_into_buffers);
}

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

static void write_buffers(struct task *t)
{
	uint32_t flags = write_flags(t);
	task_io(t, BS_WRITE, t->lba, t->blocks, flags, flags & BS_FUA ? task_good : write_cached);
}

void write_run(struct task *t)
{
	struct lu *lu = t->lu;
	if (!lba_check_transfer(t) || !write_cut_to_announced(t))
		return;
	uint64_t bytes = t->blocks << lu->block_shift;
	uint8_t *memory = memory_in_place(t);
	if (!bytes) {
		task_good(t);
		return;
	}
	if (!memory) {
		task_fetch(t, bytes, write_buffers);
		return;
	}
	sg_in_place(t, memory, (uint32_t)bytes);
	task_fetch_in_place(t, bytes, task_good);
}
