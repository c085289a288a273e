// SPDX-License-Identifier: BSD-2-Clause
// Life of a task (SAM-5 5): init, end, release, and the steps of handlers. Data transfer is
// in task_data.c. Everything here runs on the task's worker, except the function that
// task_at_home() runs on the LU's home worker.
#include "target/scsi/task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/counter.h"
#include "target/scsi/handler.h"
#include "target/scsi/lu.h"
#include "target/scsi/opcode.h"
#include "target/scsi/task_pool.h"
#include "target/scsi/task_priv.h"
#include "target/scsi/taskset.h"

void task_init(struct task *t, const struct task_ops *ops, struct nexus *n)
{
	t->ops = ops;
	t->nexus = n;
	t->status = STATUS_GOOD;
	t->sense_len = 0;
	t->is_aborted = t->sends_aborted = t->is_landing = t->fails_with_data = false;
	t->data_in = t->moved = 0;
	t->wanted = 0;
	t->sg = t->sg_inline;
	t->nsg = 0;
	t->fetch_len = 0;
	t->pooled = 0;
	t->lent = NULL;
	t->state = TASK_NEW;
	t->in_set = t->in_place = t->fetches = false;
	t->has_begun = t->is_held = t->is_internal = false;
	t->awaited_by = NULL;
	t->row = NULL;
	t->nl = NULL;
	t->lu = NULL;
	t->link = t->nl_link = (struct list){ 0 };
	t->next = NULL;
	t->lba = t->blocks = 0;
	t->fua = false;
	t->buf_wait.link = (struct list){ 0 };
	t->home_result = NULL;
	t->scratch = t->reply = NULL;
	t->hold = NULL;
}

struct worker *task_worker(const struct task *t)
{
	return t->nexus->worker;
}

static void op_account(struct lu_op_counters *k, uint64_t bytes, unsigned bucket, uint64_t us)
{
	counter_add(&k->commands, 1);
	counter_add(&k->bytes, bytes);
	counter_add(&k->latency[bucket], 1);
	counter_add(&k->latency_sum_us, us);
}

// Latency and bytes by kind of command, of the logical unit and of the session. Internal commands,
// such as those of an EXTENDED COPY, are not counted for the session.
static void task_account(struct task *t)
{
	uint16_t flags = t->row ? t->row->flags : 0;
	bool moves = t->blocks && (flags & OP_RANGE);
	enum lu_op op = !moves		     ? LU_OP_OTHER
			: flags & OP_DATA_IN ? LU_OP_READ
			: flags & OP_WRITES  ? LU_OP_WRITE
					     : LU_OP_OTHER;
	uint64_t us = (worker_now(t->nexus->worker) - t->start_ns) / 1000;
	unsigned bucket = us ? 64 - __builtin_clzll(us) : 0;
	if (bucket >= LU_LATENCY_BUCKETS)
		bucket = LU_LATENCY_BUCKETS - 1;

	uint64_t bytes = (uint64_t)t->moved + (t->fetch_len ? t->fetch_len : t->data_in);
	op_account(&t->nl->channel->counters.op[op], bytes, bucket, us);
	if (!t->is_internal)
		op_account(&t->nexus->counters.op[op], bytes, bucket, us);
}

// A failed command has no data-in: sg may be empty, or its buffers contain old data. The residual
// is then the whole expected length.
static void task_drop_data_in(struct task *t)
{
	t->data_in = 0;
	if (t->expected_in)
		t->wanted = 0;
}

void task_complete(struct task *t)
{
	struct nexus_lun *nl = t->nl;
	if (t->is_aborted) {
		t->status = STATUS_TASK_ABORTED;
		t->sense_len = 0;
		t->fails_with_data = false;
	}
	if (t->status != STATUS_GOOD && !t->fails_with_data)
		task_drop_data_in(t);
	if (t->hold)
		t->hold->release(t);
	t->state = TASK_DONE;
	if (!nl) {
		t->ops->done(t);
		return;
	}

	struct lu_channel *c = nl->channel;
	nl->inflight--;
	task_account(t);
	// Memory that is still being sent, or that an aborted transfer may yet write to, must not
	// change under a freeze: the task stays in the set until task_release().
	taskset_done(t);
	if (!t->in_place || !(t->data_in || t->is_aborted))
		taskset_leave(t);
	// done() may free everything, including the LU, unless a task waits for this one.
	if (!taskset_has_next(c)) {
		t->ops->done(t);
		return;
	}
	struct lu *lu = lu_get(c->lu);
	t->ops->done(t);
	task_resume_waiting(c);
	lu_put(lu);
}

void task_resume(struct task *t)
{
	if (t->is_aborted) {
		task_complete(t);
		return;
	}
	t->state = TASK_RUNNING;
	t->next(t);
}

void task_resume_waiting(struct lu_channel *c)
{
	// A resumed task may end at once, which calls this function again.
	if (c->is_resuming)
		return;
	c->is_resuming = true;
	for (struct task *t; (t = taskset_next(c));)
		task_resume(t);
	c->is_resuming = false;
}

static void delay_over(struct timer *timer)
{
	task_resume(container_of(timer, struct task, timer));
}

void task_delay(struct task *t, uint32_t msecs, void (*next)(struct task *t))
{
	t->state = TASK_WAITS_DELAY;
	t->next = next;
	timer_init(&t->timer, delay_over);
	timer_arm(t->nexus->worker, &t->timer, (uint64_t)msecs * 1000);
}

bool task_takes_data(const struct task *t)
{
	unsigned flags = t->row ? t->row->flags & (OP_DATA_IN | OP_DATA_OUT) : 0;
	return flags ? flags & OP_DATA_OUT : t->expected_out && !t->expected_in;
}

void task_release(struct task *t)
{
	if (t->pooled) // else it has nothing of the pool: all of that is charged
		task_buffers_drop(t);
	if (t->sg != t->sg_inline)
		free(t->sg);
	t->sg = t->sg_inline;
	free(t->scratch);
	free(t->reply);
	t->scratch = t->reply = NULL;

	struct nexus_lun *nl = t->nl;
	if (t->in_set) {
		taskset_leave(t);
		if (t->hold)
			t->hold->release(t);
	}
	if (t->is_held) {
		t->is_held = false;
		nexus_lun_put(nl);
	}
}

// With UA_INTLCK_CTRL 11b the next command reports a status without sense data (SPC-4 7.5.8,
// Control mode page).
static void task_note_status(struct task *t)
{
	if (!t->nl || t->is_internal || lu_setting(&t->lu->attr.emulate_ua_intlck_ctrl) != 2)
		return;
	if (t->status == STATUS_BUSY)
		ua_set(t->nl, UA_PREVIOUS_BUSY);
	else if (t->status == STATUS_TASK_SET_FULL)
		ua_set(t->nl, UA_PREVIOUS_FULL);
	else if (t->status == STATUS_RESERVATION_CONFLICT)
		ua_set(t->nl, UA_PREVIOUS_CONFLICT);
}

void task_finish(struct task *t, enum scsi_status status)
{
	t->status = status;
	if (status != STATUS_GOOD)
		task_note_status(t);
	task_complete(t);
}

void task_good(struct task *t)
{
	task_finish(t, STATUS_GOOD);
}

void *task_scratch(struct task *t, size_t size)
{
	void *scratch = t->scratch = calloc(1, size);
	if (!scratch)
		task_finish(t, STATUS_BUSY);
	return scratch;
}

void task_check(struct task *t, uint32_t code, const struct sense_extra *extra)
{
	bool descriptor = t->lu && __atomic_load_n(&t->lu->d_sense, __ATOMIC_RELAXED);
	t->sense_len = (uint8_t)sense_encode(t->sense, code, extra, descriptor);
	t->status = STATUS_CHECK_CONDITION;
	if (t->nl && code >> 16 != SK_UNIT_ATTENTION) {
		counter_add(&t->nl->channel->counters.errors, 1);
		t->nexus->counters.errors++;
	}
	task_complete(t);
}

static void task_invalid(struct task *t, uint32_t code, bool in_cdb, unsigned byte, int bit)
{
	struct sense_extra x = {
		.has_field_pointer = true,
		.is_field_in_cdb = in_cdb,
		.field_byte = (uint16_t)byte,
		.field_bit = (int8_t)bit,
	};
	task_check(t, code, &x);
}

void task_invalid_cdb(struct task *t, unsigned byte, int bit)
{
	task_invalid(t, SENSE_INVALID_FIELD_CDB, true, byte, bit);
}

void task_invalid_param(struct task *t, unsigned byte, int bit)
{
	task_invalid(t, SENSE_INVALID_FIELD_PARAM, false, byte, bit);
}

void task_check_param(struct task *t, uint32_t code, int byte)
{
	if (code == SENSE_INVALID_FIELD_PARAM && byte >= 0)
		task_invalid_param(t, (unsigned)byte, -1);
	else
		task_check(t, code, NULL);
}

void task_fail_io(struct task *t, int res, uint64_t lba)
{
	bool writes = t->row && (t->row->flags & OP_WRITES);
	struct sense_extra x = { .has_information = true, .information = lba };
	switch (-res) {
	case ENOSPC:
	case EDQUOT:
		task_check(t, SENSE_SPACE_ALLOC_FAILED, NULL);
		break;
	case EROFS:
		task_check(t, SENSE_WRITE_PROTECTED, NULL);
		break;
	case ERANGE:
		task_check(t, SENSE_LBA_RANGE, NULL);
		break;
	case EREMOTEIO:
	case EOPNOTSUPP:
		task_check(t, SENSE_INTERNAL_FAILURE, NULL);
		break;
	case ENOMEM:
	case EAGAIN:
		task_finish(t, STATUS_BUSY);
		break;
	default:
		task_check(t, writes ? SENSE_WRITE_ERROR : SENSE_READ_ERROR, &x);
	}
}

static void home_back(struct msg *m)
{
	task_resume(container_of(m, struct task, msg));
}

static void home_there(struct msg *m)
{
	struct task *t = container_of(m, struct task, msg);
	t->home_fn(t);
}

void task_at_home(struct task *t, void (*fn)(struct task *t), void (*next)(struct task *t))
{
	t->state = TASK_RUNNING;
	t->next = next;
	t->home_fn = fn;
	if (t->lu->home == t->nexus->worker) {
		fn(t);
		return;
	}
	t->msg.fn = home_there;
	worker_post(t->lu->home, &t->msg);
}

void task_home_done(struct task *t)
{
	if (t->nexus->worker == t->lu->home) {
		task_resume(t);
		return;
	}
	t->msg.fn = home_back;
	worker_post(t->nexus->worker, &t->msg);
}
