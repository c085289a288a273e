// SPDX-License-Identifier: BSD-2-Clause
// Operands of block commands: LBA, count and flags of 6-, 10-, 12- and 16-byte CDBs, and their
// checks against the medium (SBC-3 4.2). Pure functions; task's worker.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct lu;
struct opcode_row;
struct task;

// Reads LBA and count of row's command; t->cdb has row->cdb_len bytes. For READ(6) and WRITE(6)
// zero blocks mean 256.
void lba_decode(const struct opcode_row *row, const uint8_t *cdb, uint64_t *ret_lba,
		uint64_t *ret_blocks);

// Decodes and checks the operands of an OP_RANGE row into t->lba, t->blocks and t->fua. False: the
// task has ended with LOGICAL BLOCK ADDRESS OUT OF RANGE or INVALID FIELD IN CDB.
bool lba_check(struct task *t);

// True if [lba, lba + blocks) is within the medium; so must be lba itself, even for 0 blocks.
bool lba_in_range(const struct lu *lu, uint64_t lba, uint64_t blocks);

// Ends the task with INVALID FIELD IN CDB and returns false if t->blocks exceeds the MAXIMUM
// TRANSFER LENGTH of VPD page B0h.
bool lba_check_transfer(struct task *t);

// MODE SENSE's DPOFUA bit: whether DPO and FUA are accepted.
bool lba_has_dpofua(const struct lu *lu);
