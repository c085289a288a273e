// SPDX-License-Identifier: BSD-2-Clause
// The buffers of a worker's pool that the tasks of a nexus hold, and its share of the pool. Task's
// worker.
#pragma once

#include "target/scsi/task.h"

// Makes room in t->sg for n buffers. False: no memory.
bool task_pool_reserve(struct task *t, uint32_t n);
// Gets buffers for t->buffer_len bytes into t->sg: all or none. False: the nexus's share or the
// pool is used up.
bool task_pool_take(struct task *t);
// The first of some of the tasks in n->pool_waiters that can have its buffers now, and has them, or
// NULL.
struct task *task_pool_serve(struct nexus *n);
// Leaves the buffers of the first len bytes in t->sg, no more than are there, and returns the
// others.
void task_buffers_trim(struct task *t, uint32_t len);
// Returns the buffers before the task ends.
void task_buffers_drop(struct task *t);
// One more buffer of len bytes, charged to t's nexus until task_buf_put(). NULL: its share or the
// pool is used up; continue with less.
struct buf *task_buf_get(struct task *t, uint32_t len);
void task_buf_put(struct task *t, struct buf *b, uint32_t len); // NULL is fine
// Charges t's nexus for a buffer in t->sg that was got elsewhere.
void task_buf_charge(struct task *t, uint32_t len);
