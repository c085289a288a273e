// SPDX-License-Identifier: BSD-2-Clause
// What the handler of a command calls that moves data or waits: each step of its task, until the
// task ends; with the state of the logical unit that it works on. A handler that only answers needs
// task_status.h alone. Task's worker; nothing blocks.
#pragma once

#include "target/scsi/lu_state.h"
#include "target/scsi/task_status.h"

// Zeroed memory in t->scratch, until task_release(). NULL: the task has ended with BUSY.
void *task_scratch(struct task *t, size_t size);

// Gets pool buffers for len bytes into sg, then runs next (at once or when memory is free). If len
// is never possible, the initiator gets -EFBIG and next does not run. Of a further piece, which is
// no longer than the one before, the buffers are those that the task has.
void task_buffers(struct task *t, uint64_t len, void (*next)(struct task *t));

// Fetches the next len bytes of data-out into pool buffers, see task_buffers(), then runs next. If
// the initiator announced fewer bytes, ends the task with INVALID FIELD IN COMMAND INFORMATION UNIT
// (and the residual). len 0 runs next at once.
void task_fetch(struct task *t, uint64_t len, void (*next)(struct task *t));
// The same for a contiguous parameter list of at most 64 KiB; next gets its address from
// task_params().
void task_fetch_params(struct task *t, uint32_t len, void (*next)(struct task *t));
const uint8_t *task_params(const struct task *t);

// Fetches into sg as set by the caller (the disk's own memory), then runs next.
void task_fetch_in_place(struct task *t, uint64_t len, void (*next)(struct task *t));

// Has the first len bytes of sg sent as data-in, more of which follows; then adds len to t->moved
// and runs next.
void task_send_part(struct task *t, uint32_t len, void (*next)(struct task *t));

// Starts t->io on the LU's backstore: op over [lba, lba + blocks) with t->sg. On success
// next runs, on failure the task ends by task_fail_io().
void task_io(struct task *t, enum bs_op op, uint64_t lba, uint64_t blocks, uint32_t flags,
	     void (*next)(struct task *t));

// For commands whose ranges are known only from their parameter list (UNMAP, copies): declares
// [lba, lba + blocks), so that a freeze of another task waits for this one, and runs next as soon
// as no such freeze overlaps, possibly at once. Rows with OP_RANGE do this automatically.
void task_claim(struct task *t, uint64_t lba, uint64_t blocks, void (*next)(struct task *t));

// Runs fn on the LU's home worker, then next back on this worker. The task stays here: fn may read
// it, and may write home_result. fn must call task_home_done(t) exactly once, on the home worker,
// at once or later.
void task_at_home(struct task *t, void (*fn)(struct task *t), void (*next)(struct task *t));
void task_home_done(struct task *t);

// The worker of the task.
struct worker *task_worker(const struct task *t);
