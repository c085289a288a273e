// SPDX-License-Identifier: BSD-2-Clause
// The target's iSER mover, RDMA: Put_Data as RDMA Writes followed by a SCSI Response, Get_Data
// as RDMA Reads, and the end of a command, reported when all its requests are done. RFC 7145 7.3,
// 9.5. The connection's worker.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/iser/dm_iser_priv.h"
#include "transport/wire/be.h"

static void starve(struct dm_iser_task *it);

void dm_iser_copy(struct dm_iser *d, void *to, const void *from, uint32_t n)
{
	if (n < ISER_BLOCK_MIN)
		memcpy(to, from, n);
	else
		buf_copy_for(d->worker, &d->copied, to, from, n);
}

void dm_iser_out_begins(struct dm_iser *d)
{
	if (!d->outgoing++)
		d->tx_ns = worker_now(d->worker);
}

void dm_iser_out_ends(struct dm_iser *d)
{
	d->outgoing--;
	d->tx_ns = worker_now(d->worker);
}

static struct dm_iser_op *op_get(struct dm_iser_task *it)
{
	struct list *l = list_pop_front(&it->d->free_ops);
	struct dm_iser_op *op = l ? list_entry(l, struct dm_iser_op, link) : malloc(sizeof *op);
	if (!op)
		return NULL;
	memset(&op->wr, 0, sizeof op->wr);
	op->wr.sge = op->sge;
	op->task = it;
	op->bounce = NULL;
	list_init(&op->link);
	return op;
}

static void op_put(struct dm_iser *d, struct dm_iser_op *op)
{
	buf_put(op->bounce);
	list_push_front(&d->free_ops, &op->link);
}

// --- the end of a command ---

static void task_free(struct dm_iser_task *it)
{
	struct dm_iser *d = it->d;
	struct dm_task *t = dm_task_of(it);
	bool was_last = it->is_draining && !--d->draining;
	list_remove(&it->link);
	d->dm.up->released(&d->dm, t);
	if (was_last)
		dm_iser_send_held(d);
}

void dm_iser_task_unref(struct dm_iser_task *it)
{
	if (--it->pending)
		return;
	if (it->is_ending) {
		task_free(it);
		return;
	}
	// Flushed reads need no result: the close ends the task.
	if (it->transfer != ISER_READING || it->d->is_closed || it->out.error == -EPIPE)
		return;
	it->transfer = ISER_IDLE;
	it->out.received = it->out.want;
	dm_iser_progress(it);
}

static void on_op_done(struct rnic_wr *wr, int res)
{
	struct dm_iser_op *op = container_of(wr, struct dm_iser_op, wr);
	struct dm_iser_task *it = op->task;
	struct dm_iser *d = it->d;
	if (wr->opcode == RNIC_READ) {
		dm_task_of(it)->is_fetching = --it->reads;
		it->out.progress_ns = worker_now(d->worker);
		if (res < 0)
			it->out.error = -EPIPE;
		else if (op->bounce && !it->is_ending)
			dm_iser_copy(d, op->target, op->bounce->addr, (uint32_t)wr->bytes);
	} else {
		dm_iser_out_ends(d);
	}
	op_put(d, op);
	dm_iser_task_unref(it);
}

// --- requests ---

// The contiguous piece at the cursor, at most most bytes.
static struct sg piece(struct dm_iser_task *it, uint32_t most)
{
	while (it->index < it->nsg && it->offset == it->sg[it->index].len) {
		it->index++;
		it->offset = 0;
	}
	if (it->index == it->nsg)
		return (struct sg){ 0 };
	const struct sg *s = &it->sg[it->index];
	uint32_t n = s->len - it->offset;
	return (struct sg){ .addr = s->addr + it->offset, .len = n < most ? n : most };
}

// Memory that is not registered (parameter data from the heap, a RAM disk that could not be pinned)
// goes through a buffer of the pool. -EAGAIN: no buffer is free.
static int op_bounce(struct dm_iser_op *op, struct sg s)
{
	struct dm_iser_task *it = op->task;
	uint32_t n = s.len < BUF_MAX ? s.len : BUF_MAX;
	op->bounce = buf_get(it->d->worker, n);
	if (!op->bounce)
		return -EAGAIN;
	struct rnic_mr *mr = rnic_find(it->d->rnic, op->bounce->addr, n);
	op->sge[0] = (struct rnic_sge){ op->bounce->addr, n, mr };
	op->wr.nsge = 1;
	op->wr.flags |= RNIC_SIGNALED;
	op->target = s.addr;
	if (it->transfer == ISER_WRITING)
		dm_iser_copy(it->d, op->bounce->addr, s.addr, n);
	it->offset += n;
	return (int)n;
}

// Fills op with the next part: as much as the device takes in one request. Bytes, or -EAGAIN.
static int op_fill(struct dm_iser_op *op)
{
	struct dm_iser_task *it = op->task;
	const struct rnic_limits *l = &it->d->rnic->limits;
	uint32_t most = it->end - it->at, n = 0;
	uint32_t pieces = it->transfer == ISER_READING ? l->max_read_sge : l->max_sge;
	pieces = pieces < ISER_SGE ? pieces : ISER_SGE;
	most = most < INT32_MAX ? most : INT32_MAX;
	most = most < l->max_message ? most : (uint32_t)l->max_message;
	while (op->wr.nsge < pieces && n < most) {
		struct sg s = piece(it, most - n);
		if (!s.len)
			break;
		// A region may be registered in parts.
		struct rnic_mr *mr = rnic_find(it->d->rnic, s.addr, 1);
		if (!mr)
			return n ? (int)n : op_bounce(op, s);
		uint64_t covered = mr->len - (uint64_t)(s.addr - mr->addr);
		s.len = s.len < covered ? s.len : (uint32_t)covered;
		op->sge[op->wr.nsge++] = (struct rnic_sge){ s.addr, s.len, mr };
		it->offset += s.len;
		n += s.len;
	}
	return (int)n;
}

static int op_post(struct dm_iser_op *op)
{
	struct dm_iser_task *it = op->task;
	struct dm_iser *d = it->d;
	int n = op_fill(op);
	if (n <= 0) {
		op_put(d, op);
		return n < 0 ? n : -EINVAL;
	}
	op->wr.opcode = it->transfer == ISER_READING ? RNIC_READ : RNIC_WRITE;
	op->wr.rkey = it->rkey;
	op->wr.remote_addr = it->remote + it->at;
	op->wr.done = on_op_done;
	if (it->transfer == ISER_READING)
		op->wr.flags |= RNIC_SIGNALED;
	else if (++d->unsignaled >= ISER_SIGNAL_EACH)
		op->wr.flags |= RNIC_LAZY;
	if (op->wr.flags & (RNIC_SIGNALED | RNIC_LAZY))
		d->unsignaled = 0;
	int r = rnic_post(d->qp, &op->wr);
	if (r < 0) {
		op_put(d, op);
		return r;
	}
	if (op->wr.opcode == RNIC_WRITE)
		dm_iser_out_begins(d);
	else
		dm_task_of(it)->is_fetching = ++it->reads;
	it->at += (uint32_t)n;
	it->pending++;
	return 0;
}

// Posts the rest of the transfer. True if all of it is posted; else it continues by itself, or the
// connection is closing.
static bool transfer_post(struct dm_iser_task *it)
{
	while (it->at < it->end) {
		struct dm_iser_op *op = op_get(it);
		int r = op ? op_post(op) : -ENOMEM;
		if (r == -EAGAIN) {
			starve(it);
			return false;
		}
		if (r < 0) {
			dm_iser_fail(it->d, r, "cannot post an RDMA request");
			return false;
		}
	}
	return true;
}

static void transfer_begin(struct dm_iser_task *it, struct sg *sg, uint32_t nsg, uint32_t at,
			   uint32_t end)
{
	it->sg = sg;
	it->nsg = nsg;
	it->index = 0;
	it->offset = at;
	while (it->index < nsg && it->offset > sg[it->index].len)
		it->offset -= sg[it->index++].len;
	it->at = at;
	it->end = end;
}

// --- waiting for buffers ---

static void send_status(struct dm_iser_task *it);

static void starved_run(struct buf_wait *w)
{
	struct dm_iser *d = container_of(w, struct dm_iser, wait);
	struct list again;
	list_init(&again);
	list_splice_back(&again, &d->starved);
	for (struct list *l; (l = list_pop_front(&again));) {
		struct dm_iser_task *it = list_entry(l, struct dm_iser_task, wait);
		if (transfer_post(it) && it->transfer == ISER_WRITING)
			send_status(it);
		dm_iser_task_unref(it); // starve() has taken another reference if necessary
	}
}

static void starve(struct dm_iser_task *it)
{
	it->pending++;
	list_push_back(&it->d->starved, &it->wait);
	buf_wait_add(it->d->worker, &it->d->wait, starved_run);
}

static void unstarve(struct dm_iser_task *it)
{
	if (!list_linked(&it->wait))
		return;
	list_remove(&it->wait);
	it->pending--;
}

void dm_iser_drop_starved(struct dm_iser *d)
{
	buf_wait_cancel(&d->wait);
	for (struct list *l; (l = list_pop_front(&d->starved));)
		dm_iser_task_unref(list_entry(l, struct dm_iser_task, wait));
}

// --- data-out ---

void dm_iser_read(struct dm_iser_task *it, uint32_t at)
{
	// The initiator advertises the memory of the solicited data only. By the RFC's default it
	// would be all of the command's memory, but initiators do that only if they declare it.
	uint32_t skip = it->d->params.tagged_solicited_only ? it->out.requested : 0;
	it->transfer = ISER_READING;
	it->rkey = it->write.stag;
	it->remote = it->write.base - skip;
	transfer_begin(it, it->out.sg, it->out.nsg, at, it->out.want);
	it->pending++; // so that no completion comes between
	transfer_post(it);
	it->pending--;
}

// --- data-in and status ---

static void send_status(struct dm_iser_task *it)
{
	struct dm_iser *d = it->d;
	const struct dm_result *r = it->out.result;
	uint32_t sense = r->sense_len < ISER_SENSE_MAX ? r->sense_len : ISER_SENSE_MAX;
	uint32_t len = sense ? sense + 2 : 0;
	struct dm_iser_tx *tx = dm_iser_tx_get(d, len);
	if (!tx)
		return;
	uint8_t *bhs = dm_iser_tx_bhs(tx);
	struct iscsi_scsi_rsp *h = (void *)bhs;
	h->opcode = ISCSI_OP_SCSI_RSP;
	h->flags = ISCSI_F | r->residual_flags;
	h->response = r->response;
	h->status = r->status;
	memcpy(h->itt, &dm_task_of(it)->itt, sizeof h->itt);
	put_be32(h->residual, r->residual);
	if (sense) {
		put_be16(bhs + ISCSI_BHS_LEN, (uint16_t)sense);
		memcpy(bhs + ISCSI_BHS_LEN + 2, r->sense, sense);
	}
	dm_stamp(&d->dm, bhs);
	d->dm.sns->stat_sn++;
	// The peer checks that the invalidated tag is this command's.
	uint32_t stag = it->has_read ? it->read.stag : it->has_write ? it->write.stag : 0;
	if (d->can_invalidate && stag) {
		tx->wr.opcode = RNIC_SEND_INVALIDATE;
		tx->wr.rkey = stag;
	}
	tx->task = it;
	it->pending++;
	dm_iser_tx_post(d, tx, len);
}

void dm_iser_send_result(struct dm_iser_task *it, struct dm_result *r)
{
	struct dm_iser *d = it->d;
	dm_iser_forget(it);
	unstarve(it);
	it->is_ending = true;
	it->ending_ns = worker_now(d->worker);
	if (!r && it->pending) {
		it->is_draining = true;
		d->draining++;
	}
	it->pending++; // holds the task until everything is posted
	if (r && !d->is_closed) {
		uint32_t len = r->data_len < it->room ? r->data_len : it->room;
		it->out.result = r;
		it->transfer = ISER_WRITING;
		it->rkey = it->read.stag;
		it->remote = it->read.base;
		if (len && !it->has_read) {
			dm_iser_fail(d, -EPROTO, "a read command has no Read STag");
		} else {
			transfer_begin(it, r->sg, r->nsg, 0, len);
			if (transfer_post(it))
				send_status(it);
		}
	}
	dm_iser_task_unref(it);
}

uint64_t dm_iser_tx_since(const struct dm_iser *d)
{
	uint64_t since = 0;
	list_for_each (l, &d->tasks) {
		const struct dm_iser_task *it = list_entry(l, struct dm_iser_task, link);
		if (it->is_ending && (!since || it->ending_ns < since))
			since = it->ending_ns;
	}
	return since;
}

void dm_iser_put_data(struct dm *dm, struct dm_task *t, struct dm_result *r)
{
	struct dm_iser *d = dm_iser(dm);
	struct dm_iser_task *it = dm_iser_task(t);
	// Status lets the initiator reuse its memory, so reads in flight end first.
	if (r && (it->out.owes_data || it->reads) && !d->is_closed) {
		dm_iser_drop_data(it);
		unstarve(it);
		it->out.wants_data = false;
		t->is_finished = true;
		it->out.result = r;
		return;
	}
	t->is_finished = false;
	dm_iser_send_result(it, r);
}
