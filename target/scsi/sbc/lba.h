// SPDX-License-Identifier: BSD-2-Clause
// Operands of block commands: LBA, count and flags of 6-, 10-, 12- and 16-byte CDBs, and their
// checks against the medium (SBC-3 4.2). Pure functions; task's worker.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct lu;
struct task;

// Decodes and checks the operands of an OP_RANGE row into t->lba, t->blocks and t->fua. False: the
// task has ended with LOGICAL BLOCK ADDRESS OUT OF RANGE or INVALID FIELD IN CDB.
bool lba_check(struct task *t);

// Ends the task with INVALID FIELD IN CDB and returns false if t->blocks exceeds the MAXIMUM
// TRANSFER LENGTH of VPD page B0h.
bool lba_check_transfer(struct task *t);

// MODE SENSE's DPOFUA bit: whether DPO and FUA are accepted.
bool lba_has_dpofua(const struct lu *lu);
