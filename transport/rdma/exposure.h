// SPDX-License-Identifier: BSD-2-Clause
// Exposes a command's memory to the peer while the command is in flight: what the movers of an
// initiator share. On the worker of the queue pair. Registering memory, for devices that expose
// only registered memory, blocks while the kernel pins it; nothing else does.
#pragma once

#include "transport/rdma/rnic.h"

enum { RNIC_KEYS_MAX = 16 };

// The memory of one command. Zero it before the first use; the same struct serves several commands,
// one after the other.
struct rnic_exposure {
	// Set by the owner: the first len bytes of sg, kept until rnic_exposure_end(). For a read
	// the peer may write them, and what it does not fill has no defined content.
	const struct sg *sg;
	uint32_t nsg, len;
	bool is_read;
	uint32_t keys_max; // that the message can carry, 1 to RNIC_KEYS_MAX

	// Exposed: 1: all len bytes by one key; more: one for each piece of sg; 0: nothing.
	uint32_t count;
	struct rnic_exposed *keys;

	// Private.
	struct rnic_exposed one, *several; // several: allocated on demand, kept
	struct rnic_mr *own_mr;		   // for this command alone
	uint8_t *bounce;		   // ... of this memory instead of the command's
};

// Exposes it. Memory that the device does not know is registered for this command: its own if that
// is one piece, else a copy. -ENOMEM, or other errors of rnic_expose(), with a text.
int rnic_exposure_begin(struct rnic_exposure *x, struct rnic_qp *qp, struct err *e);
// Ends it; no-op if nothing is exposed. filled: bytes of a read that are valid.
void rnic_exposure_end(struct rnic_exposure *x, struct rnic_qp *qp, uint32_t filled);
// The queue pair was closed, which has ended the exposure; rnic_exposure_end() is still required.
void rnic_exposure_lost(struct rnic_exposure *x);
void rnic_exposure_done(struct rnic_exposure *x); // frees what it keeps
// Bytes that the peer has written or requested, at most len; len if the device does not count.
uint32_t rnic_exposure_moved(const struct rnic_exposure *x);
