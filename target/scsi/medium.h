// SPDX-License-Identifier: BSD-2-Clause
// Whether commands may use the medium: it is present, not under SANITIZE, and no other task has
// frozen the blocks. lu->sanitize is 0, or the reason for refusing commands (SBC-4 4.11).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "target/scsi/sense.h"

struct lu;
struct task;

// Values of lu->sanitize: 1 .. 65536 is the progress (of 65536) plus 1.
#define SANITIZE_IDLE	0u
#define SANITIZE_FAILED UINT32_MAX // the last one failed, and the unit is still in failure mode

// The current lu->sanitize; any thread.
uint32_t sanitize_state(const struct lu *lu);
// Whether EXIT FAILURE MODE may end the failure mode of the last operation (AUSE); any thread.
bool sanitize_may_be_left(const struct lu *lu);
// Progress of a running operation in percent.
unsigned sanitize_percent(uint32_t state);

// The sense code for a command refused in this state (not 0), with its additional data: NOT READY,
// SANITIZE IN PROGRESS with the progress, or MEDIUM ERROR, SANITIZE COMMAND FAILED.
uint32_t sanitize_sense(uint32_t state, struct sense_extra *ret_extra);

// A sanitize operation keeps the unit open until it ends. To close the unit or stop the program
// earlier, makes it fail at the next slice: the unit is then in failure mode, also after it is
// opened again. Any thread.
void sanitize_stop(struct lu *lu);

// True if the medium can be used; else the task has ended. Task's worker.
bool medium_check(struct task *t);
// Continues with t->next after a wait for data or memory: the medium may have been removed
// meanwhile, or the blocks may be frozen. Task's worker.
void task_continue(struct task *t);
