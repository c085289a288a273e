// SPDX-License-Identifier: BSD-2-Clause
// Operands of block commands: LBA, count and flags out of 6-, 10-, 12- and 16-byte CDBs,
// and their checks against the medium (SBC-3 4.2). Pure functions; task's worker.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct lu;
struct opcode_row;
struct task;

// Where row's command keeps LBA and count; t->cdb has row->cdb_len bytes. Zero blocks of
// READ(6) and WRITE(6) come out as 256.
void lba_decode(const struct opcode_row *row, const uint8_t *cdb, uint64_t *ret_lba,
		uint64_t *ret_blocks);

// Decodes and checks the operands of an OP_RANGE row into t->lba, t->blocks and t->fua. False:
// the task has been ended with LOGICAL BLOCK ADDRESS OUT OF RANGE or INVALID FIELD IN CDB.
bool lba_check(struct task *t);

// True if [lba, lba + blocks) lies on the medium; lba itself must, even for 0 blocks.
bool lba_in_range(const struct lu *lu, uint64_t lba, uint64_t blocks);

// Ends the task with INVALID FIELD IN CDB and returns false when t->blocks exceed the MAXIMUM
// TRANSFER LENGTH of VPD page B0h.
bool lba_check_transfer(struct task *t);

// MODE SENSE's DPOFUA bit: whether DPO and FUA are accepted.
bool lba_has_dpofua(const struct lu *lu);
