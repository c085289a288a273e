// SPDX-License-Identifier: BSD-2-Clause
// A task's data: parameter data out, pool buffers, data-out from the protocol, backstore I/O.
// Task's worker; nothing blocks.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/scsi/handler.h"
#include "target/scsi/io_log.h"
#include "target/scsi/lu_round.h"
#include "target/scsi/medium.h"
#include "target/scsi/nexus.h"
#include "target/scsi/task_pool.h"
#include "target/scsi/task_priv.h"
#include "target/scsi/taskset.h"

// More than any MAXIMUM TRANSFER LENGTH that lu_attr.c permits; the pool holds several.
#define TASK_DATA_MAX (64ull << 20)

void task_reply(struct task *t, const void *data, uint32_t len, uint32_t alloc)
{
	uint32_t n = len < alloc ? len : alloc;
	t->wanted = n;
	if (n > t->expected_in)
		n = t->expected_in;
	if (!n) {
		task_good(t);
		return;
	}
	struct buf *b = n <= BUF_MAX ? buf_get(t->nexus->worker, n) : NULL;
	uint8_t *to = b ? b->addr : (t->reply = malloc(n));
	if (!to) {
		task_finish(t, STATUS_BUSY);
		return;
	}
	memcpy(to, data, n);
	if (b)
		task_buf_charge(t, n);
	t->sg[0] = (struct sg){ .addr = to, .len = n, .buf = b };
	t->nsg = 1;
	t->data_in = n;
	task_good(t);
}

static void data_fetch(struct task *t)
{
	t->state = TASK_WAITS_DATA;
	lu_round_recheck(t);
	t->ops->get_data(t);
}

static void buffers_came(struct task *t)
{
	if (t->fetches)
		data_fetch(t);
	else
		task_continue(t);
}

// A nexus has one wait in the pool for all of its tasks: each nexus gets its turn, regardless of
// the number of tasks of others, and returned memory is not offered to thousands of tasks.
static void memory_came(struct buf_wait *wait)
{
	struct nexus *n = container_of(wait, struct nexus, pool_wait);
	for (struct task *t; (t = task_pool_serve(n));) {
		list_remove(&t->buf_wait.link);
		buffers_came(t);
	}
	if (!list_empty(&n->pool_waiters))
		buf_wait_add(n->worker, wait, memory_came);
}

// Gets pool buffers for len bytes, at once or when memory is free.
static void buffers_await(struct task *t, uint64_t len)
{
	struct nexus *n = t->nexus;
	if (t->moved) {
		task_buffers_trim(t, (uint32_t)len);
		t->buffer_len = (uint32_t)len;
		buffers_came(t);
		return;
	}
	if (t->lent && len <= t->lent->size) {
		t->sg[0] =
			(struct sg){ .addr = t->lent->addr, .len = (uint32_t)len, .buf = t->lent };
		t->nsg = 1;
		t->buffer_len = (uint32_t)len;
		buffers_came(t);
		return;
	}
	if (len > TASK_DATA_MAX) {
		task_check(t, SENSE_INVALID_FIELD_CDB, NULL);
		return;
	}
	if (!task_pool_reserve(t, (uint32_t)((len + BUF_MAX - 1) / BUF_MAX))) {
		task_finish(t, STATUS_BUSY);
		return;
	}
	t->buffer_len = (uint32_t)len;
	if (task_pool_take(t)) {
		buffers_came(t);
		return;
	}
	t->state = TASK_WAITS_BUFFERS;
	lu_round_recheck(t);
	list_push_back(&n->pool_waiters, &t->buf_wait.link);
	buf_wait_add(n->worker, &n->pool_wait, memory_came);
}

void task_buffers(struct task *t, uint64_t len, void (*next)(struct task *t))
{
	t->next = next;
	t->fetches = false;
	buffers_await(t, len);
}

// Compares the length of the command with the announced one. The protocol discards excess data
// (underflow); less is an error.
static bool data_out_is_enough(struct task *t, uint64_t len)
{
	if (t->wanted < len)
		t->wanted = len;
	if (len <= t->expected_out)
		return true;
	task_check(t, SENSE_INVALID_FIELD_IU, NULL);
	return false;
}

void task_fetch(struct task *t, uint64_t len, void (*next)(struct task *t))
{
	if (!data_out_is_enough(t, len))
		return;
	t->next = next;
	if (!len) {
		task_resume(t);
		return;
	}
	t->fetches = true;
	t->fetch_len = (uint32_t)len;
	buffers_await(t, len);
}

void task_fetch_params(struct task *t, uint32_t len, void (*next)(struct task *t))
{
	if (len > 65536) {
		task_check(t, SENSE_PARAM_LIST_LENGTH, NULL);
		return;
	}
	task_fetch(t, len, next);
}

const uint8_t *task_params(const struct task *t)
{
	return t->sg[0].addr;
}

void task_fetch_in_place(struct task *t, uint64_t len, void (*next)(struct task *t))
{
	if (!data_out_is_enough(t, len))
		return;
	t->next = next;
	t->fetch_len = (uint32_t)len;
	data_fetch(t);
}

// The kernel could not write to the disk's own memory.
static void memory_failed(struct task *t, int res)
{
	unsigned shift = t->lu->block_shift;
	io_log_result(t->lu, BS_WRITE, t->lba << shift, t->blocks << shift, res);
	task_fail_io(t, res, t->lba);
}

void task_data_ready(struct task *t, int res)
{
	if (t->state != TASK_WAITS_DATA)
		return; // aborted meanwhile
	if (res >= 0) {
		task_continue(t);
		return;
	}
	switch (-res) {
	case EPIPE:
		task_abort(t, false);
		break;
	case EFAULT:
		memory_failed(t, res);
		break;
	case EBADMSG:
		task_check(t, SENSE_SERVICE_CRC_ERROR, NULL);
		break;
	case ENOBUFS: // it arrived before memory was free
		task_finish(t, STATUS_BUSY);
		break;
	case EMSGSIZE:
		task_check(t, SENSE_INCORRECT_DATA_AMOUNT, NULL);
		break;
	case EPROTO:
		task_check(t, SENSE_UNEXPECTED_UNSOLICITED, NULL);
		break;
	default:
		task_check(t, SENSE_DATA_PHASE_ERROR, NULL);
	}
}

void task_send_part(struct task *t, uint32_t len, void (*next)(struct task *t))
{
	t->data_in = len;
	t->next = next;
	t->state = TASK_WAITS_SENT;
	lu_round_recheck(t);
	t->ops->put_part(t);
}

void task_part_sent(struct task *t, int res)
{
	if (t->state != TASK_WAITS_SENT)
		return; // aborted meanwhile
	t->moved += t->data_in;
	t->data_in = 0;
	if (res >= 0)
		task_continue(t);
	else if (res == -EPIPE)
		task_abort(t, false);
	else
		task_check(t, SENSE_DATA_PHASE_ERROR, NULL);
}

static void io_done(struct bs_io *io, int res)
{
	struct task *t = container_of(io, struct task, io);
	task_storage_ends(t);
	io_log_note(t->lu, io, res);
	if (res < 0 && !t->is_aborted)
		task_fail_io(t, res, io->offset >> t->lu->block_shift);
	else
		task_resume(t);
}

void task_io(struct task *t, enum bs_op op, uint64_t lba, uint64_t blocks, uint32_t flags,
	     void (*next)(struct task *t))
{
	struct bs_io *io = &t->io;
	t->next = next;
	t->state = TASK_RUNNING;
	io->op = op;
	io->flags = flags;
	io->offset = lba << t->lu->block_shift;
	io->length = blocks << t->lu->block_shift;
	io->sg = t->sg;
	io->nsg = t->nsg;
	io->done = io_done;
	io->copied = &t->nexus->copied;
	task_storage_begins(t);
	backstore_submit(lu_bs(t->lu), io);
}
