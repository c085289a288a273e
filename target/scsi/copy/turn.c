// SPDX-License-Identifier: BSD-2-Clause
// Limits concurrent copies, see turn.h: at most COPIES_NEXUS_MAX of a nexus, and at most half
// of the rest of COPIES_MAX, so that a nexus without copies gets one. The others wait in FIFO order
// without holding resources. Worker of the nexus; the sum is an atomic.
#include "target/scsi/copy/turn.h"

#include "target/scsi/handler.h"
#include "target/scsi/nexus.h"
#include "target/scsi/task_pool.h"

static unsigned copies; // of all nexuses; atomic

static bool turn_permits(const struct nexus *n)
{
	unsigned sum = __atomic_load_n(&copies, __ATOMIC_RELAXED);
	return sum < COPIES_MAX && n->copies < COPIES_NEXUS_MAX &&
	       n->copies < (COPIES_MAX + 1 - sum) / 2;
}

// Other workers may change it concurrently.
static bool turn_take(struct nexus *n)
{
	if (!turn_permits(n))
		return false;
	if (__atomic_add_fetch(&copies, 1, __ATOMIC_RELAXED) > COPIES_MAX) {
		__atomic_sub_fetch(&copies, 1, __ATOMIC_RELAXED);
		return false;
	}
	n->copies++;
	return true;
}

// The end of a copy of the same nexus makes room.
static void turn_wait(struct task *t)
{
	task_buffers_drop(t);
	if (!t->nexus->copies) {
		task_finish(t, STATUS_BUSY);
		return;
	}
	t->state = TASK_WAITS_BUFFERS;
	list_push_back(&t->nexus->copy_waiters, &t->buf_wait.link);
}

static void memory_came(struct task *t)
{
	if (turn_take(t->nexus))
		t->home_fn(t);
	else
		turn_wait(t);
}

static void turn_try(struct task *t)
{
	if (turn_permits(t->nexus))
		task_buffers(t, COPY_CHUNK, memory_came);
	else
		turn_wait(t);
}

void copy_await_turn(struct task *t, void (*next)(struct task *t))
{
	task_buffers_drop(t);
	t->home_fn = next;
	turn_try(t);
}

void copy_turn_over(struct task *t)
{
	struct nexus *n = t->nexus;
	struct list *first;
	task_buffers_drop(t);
	n->copies--;
	__atomic_sub_fetch(&copies, 1, __ATOMIC_RELAXED);
	if (n->is_turning_copies) // a copy that ended at once
		return;
	n->is_turning_copies = true;
	// Without running copies of the nexus, nothing would wake its waiting ones.
	while ((turn_permits(n) || !n->copies) && (first = list_pop_front(&n->copy_waiters)))
		turn_try(list_entry(first, struct task, buf_wait.link));
	n->is_turning_copies = false;
}
