// SPDX-License-Identifier: BSD-2-Clause
// Data by RDMA Writes and Reads, see transfer.h. On the worker of the queue pair.
#include "transport/rdma/transfer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	SGE = 8,	  // pieces of one request
	SIGNAL_EACH = 32, // a chain of writes is signaled at least this often
	BLOCK_MIN = 512,  // shorter data is not a disk block and so not payload
};

// One RDMA Write or Read.
struct op {
	struct rnic_wr wr;
	struct rnic_sge sge[SGE];
	struct list link; // rnic_transfers.free
	struct rnic_transfer *transfer;
	struct buf *bounce; // for memory that is not registered with the device
	uint8_t *target;    // destination of its bytes, after a read
};

static struct op *op_of(const struct rnic_wr *wr)
{
	return container_of((struct rnic_wr *)wr, struct op, wr);
}

void rnic_transfers_init(struct rnic_transfers *x, struct rnic *rnic)
{
	*x = (struct rnic_transfers){ .rnic = rnic };
	list_init(&x->free);
}

void rnic_transfers_done(struct rnic_transfers *x)
{
	for (struct list *l; (l = list_pop_front(&x->free));)
		free(list_entry(l, struct op, link));
}

void rnic_transfer_copy(struct rnic_transfers *x, void *to, const void *from, uint32_t n)
{
	if (n < BLOCK_MIN)
		memcpy(to, from, n);
	else
		buf_copy_for(x->rnic->worker, &x->copied, to, from, n);
}

void rnic_out_begins(struct rnic_transfers *x)
{
	if (!x->outgoing++)
		x->tx_ns = worker_now(x->rnic->worker);
}

void rnic_out_ends(struct rnic_transfers *x)
{
	x->outgoing--;
	x->tx_ns = worker_now(x->rnic->worker);
}

uint64_t rnic_out_stuck_ns(const struct rnic_transfers *x)
{
	uint64_t part = x->qp->last_tx_ns;
	return !x->outgoing ? 0 : part > x->tx_ns ? part : x->tx_ns;
}

// --- requests ---

static struct op *op_get(struct rnic_transfer *t)
{
	struct list *l = list_pop_front(&t->of->free);
	struct op *op = l ? list_entry(l, struct op, link) : malloc(sizeof *op);
	if (!op)
		return NULL;
	memset(&op->wr, 0, sizeof op->wr);
	op->wr.sge = op->sge;
	op->transfer = t;
	op->bounce = NULL;
	list_init(&op->link);
	return op;
}

static void op_put(struct op *op)
{
	buf_put(op->bounce);
	list_push_front(&op->transfer->of->free, &op->link);
}

// The contiguous piece at the cursor, at most most bytes.
static struct sg piece(struct rnic_transfer *t, uint32_t most)
{
	while (t->index < t->nsg && t->offset == t->sg[t->index].len) {
		t->index++;
		t->offset = 0;
	}
	if (t->index == t->nsg)
		return (struct sg){ 0 };
	const struct sg *s = &t->sg[t->index];
	uint32_t n = s->len - t->offset;
	return (struct sg){ .addr = s->addr + t->offset, .len = n < most ? n : most };
}

// -EAGAIN: no buffer is free.
static int op_bounce(struct op *op, struct sg s)
{
	struct rnic_transfer *t = op->transfer;
	struct rnic *rnic = t->of->rnic;
	uint32_t n = s.len < BUF_MAX ? s.len : BUF_MAX;
	op->bounce = buf_get(rnic->worker, n);
	if (!op->bounce)
		return -EAGAIN;
	struct rnic_mr *mr = rnic_find(rnic, op->bounce->addr, n);
	op->sge[0] = (struct rnic_sge){ op->bounce->addr, n, mr };
	op->wr.nsge = 1;
	op->wr.flags |= RNIC_SIGNALED;
	op->target = s.addr;
	if (t->opcode == RNIC_WRITE)
		rnic_transfer_copy(t->of, op->bounce->addr, s.addr, n);
	t->offset += n;
	return (int)n;
}

// Fills op with the next part: as much as the device takes in one request. Bytes, or -EAGAIN.
static int op_fill(struct op *op)
{
	struct rnic_transfer *t = op->transfer;
	const struct rnic_limits *l = &t->of->rnic->limits;
	uint32_t most = t->end - t->at, n = 0;
	uint32_t pieces = t->opcode == RNIC_READ ? l->max_read_sge : l->max_sge;
	pieces = pieces < SGE ? pieces : SGE;
	most = most < INT32_MAX ? most : INT32_MAX;
	most = most < l->max_message ? most : (uint32_t)l->max_message;
	while (op->wr.nsge < pieces && n < most) {
		struct sg s = piece(t, most - n);
		if (!s.len)
			break;
		// A region may be registered in parts.
		struct rnic_mr *mr = rnic_find(t->of->rnic, s.addr, 1);
		if (!mr)
			return n ? (int)n : op_bounce(op, s);
		uint64_t covered = mr->len - (uint64_t)(s.addr - mr->addr);
		s.len = s.len < covered ? s.len : (uint32_t)covered;
		op->sge[op->wr.nsge++] = (struct rnic_sge){ s.addr, s.len, mr };
		t->offset += s.len;
		n += s.len;
	}
	return (int)n;
}

static int op_post(struct op *op, void (*done)(struct rnic_wr *wr, int res))
{
	struct rnic_transfer *t = op->transfer;
	struct rnic_transfers *x = t->of;
	int n = op_fill(op);
	if (n <= 0) {
		op_put(op);
		return n < 0 ? n : -EINVAL;
	}
	op->wr.opcode = t->opcode;
	op->wr.rkey = t->rkey;
	op->wr.remote_addr = t->remote + t->at;
	op->wr.done = done;
	if (t->opcode == RNIC_READ || (t->is_awaited && t->at + (uint32_t)n == t->end))
		op->wr.flags |= RNIC_SIGNALED;
	else if (++x->unsignaled >= SIGNAL_EACH)
		op->wr.flags |= RNIC_LAZY;
	if (op->wr.flags & (RNIC_SIGNALED | RNIC_LAZY))
		x->unsignaled = 0;
	int r = rnic_post(x->qp, &op->wr);
	if (r < 0) {
		op_put(op);
		return r;
	}
	if (t->opcode == RNIC_WRITE)
		rnic_out_begins(x);
	else
		t->reads++;
	t->in_flight++;
	t->at += (uint32_t)n;
	return 0;
}

// --- transfers ---

void rnic_transfer_begin(struct rnic_transfer *t, struct sg *sg, uint32_t nsg, uint32_t at,
			 uint32_t end)
{
	t->sg = sg;
	t->nsg = nsg;
	t->index = 0;
	t->offset = at;
	while (t->index < nsg && t->offset > sg[t->index].len)
		t->offset -= sg[t->index++].len;
	t->at = at;
	t->end = end;
}

int rnic_transfer_post(struct rnic_transfer *t, void (*done)(struct rnic_wr *wr, int res))
{
	int r = 0;
	while (!r && t->at < t->end) {
		struct op *op = op_get(t);
		r = op ? op_post(op, done) : -ENOMEM;
	}
	return r;
}

struct rnic_transfer *rnic_transfer_of(const struct rnic_wr *wr)
{
	return op_of(wr)->transfer;
}

void rnic_transfer_end(struct rnic_wr *wr, bool is_wanted)
{
	struct op *op = op_of(wr);
	struct rnic_transfer *t = op->transfer;
	t->in_flight--;
	if (wr->opcode == RNIC_WRITE) {
		rnic_out_ends(t->of);
	} else {
		t->reads--;
		if (op->bounce && is_wanted)
			rnic_transfer_copy(t->of, op->target, op->bounce->addr,
					   (uint32_t)wr->bytes);
	}
	op_put(op);
}
