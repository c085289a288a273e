// SPDX-License-Identifier: BSD-2-Clause
// The end of tasks by task management, a preempted reservation or the loss of their nexus
// (SAM-5 5.6, 7). Task's worker.
#include "target/scsi/task_abort.h"

#include "target/scsi/nexus_ops.h"
#include "target/scsi/task_priv.h"
#include "target/scsi/taskset.h"

void task_abort(struct task *t, bool with_status)
{
	if (t->state == TASK_NEW || t->state == TASK_DONE || t->is_aborted)
		return;
	t->is_aborted = true;
	t->sends_aborted = with_status;
	if (t->in_set)
		taskset_aborted(t);
	switch (t->state) {
	case TASK_WAITS_BUFFERS:
		buf_wait_cancel(&t->buf_wait);
		break;
	case TASK_WAITS_DELAY:
		timer_cancel(t->nexus->worker, &t->timer);
		break;
	case TASK_WAITS_TURN:
		list_remove(&t->turn_link);
		break;
	case TASK_WAITS_REMOVAL: // two nexuses may be removing each other
		t->nexus->ops->remove_cancel(t->home_result);
		break;
	case TASK_WAITS_DATA:
	case TASK_WAITS_SENT:
		break;
	default:
		return; // its current owner calls task_resume() or ends it
	}
	task_complete(t);
}

void tasks_abort(struct lu_channel *c, bool (*sends_status)(const struct task *t, const void *arg),
		 const void *arg)
{
	// Tasks that wait for those aborted here may be aborted next: none of them is resumed
	// before.
	bool was_resuming = c->is_resuming;
	c->is_resuming = true;
	struct taskset_walk walk;
	taskset_walk_begin(&walk, c);
	for (struct task *t; (t = taskset_walk_next(&walk));) {
		if (t->state != TASK_DONE && !t->is_aborted)
			task_abort(t, sends_status && sends_status(t, arg));
	}
	c->is_resuming = was_resuming;
	if (!was_resuming)
		task_resume_waiting(c);
}

void tasks_abort_nexus(struct nexus_lun *nl, bool with_status)
{
	struct lu_channel *c = nl->channel;
	bool was_resuming = c->is_resuming;
	c->is_resuming = true;
	for (struct list *it; (it = list_first(&nl->open));)
		task_abort(list_entry(it, struct task, nl_link), with_status);
	c->is_resuming = was_resuming;
	if (!was_resuming)
		task_resume_waiting(c);
}
