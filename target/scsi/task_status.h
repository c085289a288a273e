// SPDX-License-Identifier: BSD-2-Clause
// How a command ends: its status, sense data and parameter data. Task's worker.
#pragma once

#include "target/scsi/task.h"

// Ends the task with GOOD, or another status without sense.
void task_good(struct task *t);
void task_finish(struct task *t, enum scsi_status status);
// Ends the task with CHECK CONDITION. extra may be NULL.
void task_check(struct task *t, uint32_t code, const struct sense_extra *extra);
// CHECK CONDITION for an invalid field: byte and bit (-1 none) of the CDB or parameter list.
void task_invalid_cdb(struct task *t, unsigned byte, int bit);
void task_invalid_param(struct task *t, unsigned byte, int bit);
// CHECK CONDITION for a parameter list: code, and with INVALID FIELD IN PARAMETER LIST the byte if
// it is known, else -1.
void task_check_param(struct task *t, uint32_t code, int byte);
// Maps a backstore's negative errno to status and sense, and ends the task.
void task_fail_io(struct task *t, int res, uint64_t lba);

// Ends the task with GOOD and len bytes of parameter data, truncated to the CDB's allocation length
// alloc; data is copied before the call returns.
void task_reply(struct task *t, const void *data, uint32_t len, uint32_t alloc);
