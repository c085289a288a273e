// SPDX-License-Identifier: BSD-2-Clause
// Operands of block commands, see lba.h. Pure functions; task's worker.
#include "target/scsi/sbc/lba.h"

#include "target/scsi/lu_state.h"
#include "target/scsi/opcode.h"
#include "target/scsi/task_status.h"
#include "transport/wire/be.h"

// Commands whose count is not at the position for their length.
static uint64_t odd_count(const uint8_t *cdb, uint64_t usual)
{
	switch (cdb[0]) {
	case 0x08: // READ(6), WRITE(6): 0 means 256
	case 0x0a:
		return usual ? usual : 256;
	case 0x89: // COMPARE AND WRITE
		return cdb[13];
	case 0x9c: // WRITE ATOMIC(16)
		return get_be16(cdb + 12);
	default:
		return usual;
	}
}

// t->cdb has row->cdb_len bytes. For READ(6) and WRITE(6) zero blocks mean 256.
static void lba_decode(const struct opcode_row *row, const uint8_t *cdb, uint64_t *ret_lba,
		       uint64_t *ret_blocks)
{
	uint64_t n;
	switch (row->cdb_len) {
	case 6:
		*ret_lba = get_be24(cdb + 1) & 0x1fffff;
		n = cdb[4];
		break;
	case 10:
		*ret_lba = get_be32(cdb + 2);
		n = get_be16(cdb + 7);
		break;
	case 12:
		*ret_lba = get_be32(cdb + 2);
		n = get_be32(cdb + 6);
		break;
	default:
		*ret_lba = get_be64(cdb + 2);
		n = get_be32(cdb + 10);
	}
	*ret_blocks = odd_count(cdb, n);
}

// Blocks that a READ(10) or WRITE(10) means beyond its count. iPXE sends these for any number of
// blocks, and the CDB has 16 bits of it: it expects all of the data, and takes what does not come
// for read or written.
static uint64_t cut_off_blocks(const struct task *t)
{
	uint32_t expected = t->cdb[0] == 0x28 ? t->expected_in : t->expected_out;
	if ((t->cdb[0] != 0x28 && t->cdb[0] != 0x2a) || expected & (t->lu->block_size - 1))
		return 0;
	uint64_t blocks = expected >> t->lu->block_shift;
	return blocks > t->blocks && (blocks & 0xffff) == t->blocks ? blocks - t->blocks : 0;
}

// So must be lba itself, even for 0 blocks.
static bool lba_in_range(const struct lu *lu, uint64_t lba, uint64_t blocks)
{
	uint64_t capacity = lu_capacity(lu);
	return lba < capacity && blocks <= capacity - lba;
}

bool lba_has_dpofua(const struct lu *lu)
{
	return lu_setting(&lu->attr.emulate_fua_write);
}

bool lba_check(struct task *t)
{
	const struct opcode_row *row = t->row;
	uint8_t flags = t->cdb[1];
	if ((row->flags & OP_PROTECT) && (flags & 0xe0)) {
		task_invalid_cdb(t, 1, 7);
		return false;
	}
	uint8_t cache =
		(uint8_t)((row->flags & OP_DPO ? 0x10 : 0) | (row->flags & OP_FUA ? 0x08 : 0));
	if ((flags & cache) && !lba_has_dpofua(t->lu)) {
		task_invalid_cdb(t, 1, flags & cache & 0x10 ? 4 : 3);
		return false;
	}
	t->fua = flags & cache & 0x08;
	lba_decode(row, t->cdb, &t->lba, &t->blocks);
	t->blocks += cut_off_blocks(t);
	if (!lba_in_range(t->lu, t->lba, t->blocks)) {
		t->blocks = 0;
		task_check(t, SENSE_LBA_RANGE, NULL);
		return false;
	}
	if (!t->blocks && (row->flags & OP_TO_END))
		t->blocks = lu_capacity(t->lu) - t->lba;
	return true;
}

// Byte of the CDB where the count begins, for the field pointer.
static unsigned count_offset(const struct opcode_row *row)
{
	switch (row->cdb_len) {
	case 6:
		return 4;
	case 10:
		return 7;
	case 12:
		return 6;
	default:
		return 10;
	}
}

bool lba_check_transfer(struct task *t)
{
	if (t->blocks <= lu_max_transfer(t->lu))
		return true;
	task_invalid_cdb(t, count_offset(t->row), -1);
	return false;
}
