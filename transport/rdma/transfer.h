// SPDX-License-Identifier: BSD-2-Clause
// Moves data between a scatter list and the peer's memory, by RDMA Writes or Reads: what the
// movers of a target share. As few requests as the device permits, most of them unsignaled. Memory
// that is not registered with the device (parameter data from the heap, a RAM disk that could not
// be pinned) goes through a buffer of the pool.
//
// On the worker of the queue pair; nothing blocks.
#pragma once

#include "transport/rdma/rnic.h"

// What the transfers of a queue pair share. Its sends are counted here, too.
struct rnic_transfers {
	struct rnic *rnic;
	struct rnic_qp *qp;  // set by the owner before the first request
	struct list free;    // requests
	unsigned unsignaled; // requests since the last signaled one, sends included
	uint32_t outgoing;   // sends and writes in flight
	uint64_t tx_ns;	     // when the last of those was done, or the first was posted
	struct buf_copies copied;
};

// One transfer. The owner sets the first group, then calls rnic_transfer_begin(). Zero it before
// the first one; the same struct serves several, one after the other.
struct rnic_transfer {
	struct rnic_transfers *of;
	enum rnic_opcode opcode; // RNIC_WRITE or RNIC_READ
	uint32_t rkey;
	uint64_t remote; // of byte 0 of sg
	bool is_awaited; // the end of a write is reported at once: its last request is signaled

	unsigned in_flight, reads; // requests that are posted; of them reads
	// Private: the bytes of the command's data not posted yet, and the cursor in sg.
	uint32_t at, end;
	struct sg *sg;
	uint32_t nsg, index, offset;
};

void rnic_transfers_init(struct rnic_transfers *x, struct rnic *rnic);
void rnic_transfers_done(struct rnic_transfers *x); // no request is in flight

// Bytes at to end of sg, which is kept.
void rnic_transfer_begin(struct rnic_transfer *t, struct sg *sg, uint32_t nsg, uint32_t at,
			 uint32_t end);
// Posts what is left. done is called for each request, see struct rnic_wr, and calls
// rnic_transfer_end(). 0: all is posted; -EAGAIN: the pool has no buffer, call again from
// buf_wait_add(); other errors are those of rnic_post(), and -ENOMEM.
int rnic_transfer_post(struct rnic_transfer *t, void (*done)(struct rnic_wr *wr, int res));
struct rnic_transfer *rnic_transfer_of(const struct rnic_wr *wr);
// A request has ended, which is forgotten. is_wanted: what a read has brought belongs into sg.
void rnic_transfer_end(struct rnic_wr *wr, bool is_wanted);

// Since when sends and writes make no progress, which is the end of one, or a part of it that has
// left the host where the device tells that; 0: none is in flight.
uint64_t rnic_out_stuck_ns(const struct rnic_transfers *x);
// A send or write was posted, or is done.
void rnic_out_begins(struct rnic_transfers *x);
void rnic_out_ends(struct rnic_transfers *x);

// Copies n bytes, counted as payload if they may be payload.
void rnic_transfer_copy(struct rnic_transfers *x, void *to, const void *from, uint32_t n);
