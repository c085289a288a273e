// SPDX-License-Identifier: BSD-2-Clause
// The sends of a queue pair: their memory, their number. What the movers of a target share.
//
// Sends use slots of registered pool buffers, allocated on demand and freed beyond what the owner
// usually needs; a longer one has a buffer of its own. On the worker of the queue pair; nothing
// blocks, and with a free slot nothing allocates.
#pragma once

#include "transport/rdma/drain.h"
#include "transport/rdma/transfer.h"

struct rnic_send_slab;

struct rnic_sends {
	struct rnic_transfers *of; // the queue pair, and what counts its requests
	// Set by the owner.
	uint32_t limit; // of sends in flight
	uint32_t kept;	// sends whose memory is kept when they are not used

	uint32_t in_flight;
	unsigned slab_count; // BUF_MIN bytes of the pool each
	// Private.
	uint32_t slot, per_slab;
	struct list slabs, free;
};

struct rnic_send {
	struct rnic_wr wr;   // wr.done: the owner's, which calls rnic_send_end()
	struct rnic_sge sge; // sge.addr: the memory of the message
	struct rnic_sends *of;
	// The owner's.
	struct rnic_held held;
	void *task;
	unsigned flags;
	// Private.
	struct list link;
	struct rnic_send_slab *slab;
	uint8_t *memory; // of its slot
	struct rnic_mr *mr;
	struct buf *big;
};

static inline struct rnic_send *rnic_send_of(struct rnic_wr *wr)
{
	return container_of(wr, struct rnic_send, wr);
}

// slot: bytes of most sends, a power of two up to BUF_MIN.
void rnic_sends_init(struct rnic_sends *s, struct rnic_transfers *of, uint32_t slot);
// Allocates a slab ahead. -ENOMEM, -ENOBUFS: the pool's memory is not registered with the device.
int rnic_sends_add(struct rnic_sends *s);
void rnic_sends_done(struct rnic_sends *s); // none is in flight

// A send with room for len bytes, which are not cleared. wr.done frees it, unless
// the owner sets another. -EAGAIN: the limit is reached; -ENOMEM, -ENOBUFS.
int rnic_send_get(struct rnic_sends *s, struct rnic_send **ret, uint32_t len);
// Posts its first len bytes: flags are RNIC_SOLICITED, and RNIC_SIGNALED or RNIC_LAZY. After an
// error, that of rnic_post(), done has been called with it.
int rnic_send_post(struct rnic_send *t, uint32_t len, unsigned flags);
void rnic_send_end(struct rnic_send *t); // for done: frees it
void rnic_send_put(struct rnic_send *t); // frees one that was not posted
