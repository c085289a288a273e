// SPDX-License-Identifier: BSD-2-Clause
// What the movers of an initiator share: a slot for each message that is being sent and for each
// command in flight, the memory of both, the end of commands, the close of the connection with its
// cause.
//
// On the worker of the queue pair; nothing blocks but what exposure.h says.
#pragma once

#include "transport/rdma/exposure.h"

struct rnic_slots;

// An outgoing message, and the command that it starts until that ends.
struct rnic_slot {
	struct rnic_wr wr;
	struct rnic_sge sge[2]; // header, data
	struct rnic_slots *of;
	void *task; // the mover's command; NULL: any other message
	struct rnic_exposure exposure;

	// Private.
	struct rnic_sge own; // memory of the slot for data, allocated on demand
	struct buf *data;    // ... that holds it
	bool is_sending;     // the request is posted: it refers to the task's memory
	bool is_finished;    // ended() waits for that
	int res;	     // of ended()
	struct rnic_slot *next_free;
};

struct rnic_slots {
	// Set by the owner before the first call.
	struct worker *worker;
	struct rnic_qp *qp;
	unsigned count;		       // slots
	unsigned controls_max;	       // of them messages without a command that are not sent yet
	uint32_t header_max, data_max; // bytes of a message: at most BUF_MAX of all headers
	// A command has ended: the peer can no longer access its memory, no request refers to it.
	void (*ended)(struct rnic_slots *s, void *task, int res);

	bool is_closing;
	unsigned controls;

	// Private.
	struct rnic_slot *slot, *free;
	struct buf *headers;
	struct err fault; // why the connection will close at the end of the round
	struct defer fault_defer;
	struct defer unsent_defer; // ends commands that could not be sent
};

// The connection is established: prepares the slots. -ENOMEM with a text.
int rnic_slots_open(struct rnic_slots *s, struct err *e);
// The connection is closed: every command ends with -EPIPE.
void rnic_slots_closed(struct rnic_slots *s);
void rnic_slots_free(struct rnic_slots *s); // after that

// Closes the connection, for the first reason given: now, or at the end of the round, where the
// caller does not expect a close.
void rnic_slots_close(struct rnic_slots *s, const struct err *why);
void rnic_slots_fault(struct rnic_slots *s, const struct err *why);

// *ret is why a connect of a protocol ("iSER") failed, with a cure where there is one.
void rnic_connect_failed(struct err *ret, const char *protocol, const struct err *why);

// A free slot for a command; there must be one: the owner counts commands.
struct rnic_slot *rnic_slot_take(struct rnic_slots *s, void *task);
// ... for another message; NULL: controls_max of them are not sent yet.
struct rnic_slot *rnic_slot_take_control(struct rnic_slots *s);
void rnic_slot_put(struct rnic_slot *slot); // of another message, which was not posted
unsigned rnic_slot_index(const struct rnic_slot *slot);
// The slot of a command in flight, or NULL.
struct rnic_slot *rnic_slot_at(struct rnic_slots *s, uint64_t index);

// Gives the slot data_max bytes of memory for data, as sge[1]. False: no memory.
bool rnic_slot_data(struct rnic_slot *slot);
// The first len bytes of sg, at most data_max, as sge[1]: directly from there if the device knows
// it and it is one piece, else a copy. -ENOMEM.
int rnic_slot_gather(struct rnic_slot *slot, const struct sg *sg, uint32_t len);
// Sends the first bytes of the header and of the data. False: the connection will close.
bool rnic_slot_post(struct rnic_slot *slot, uint32_t header, uint32_t data);
// The slot's command has ended; ended() follows as soon as no posted request refers to it. filled:
// bytes of a read that are valid.
void rnic_slot_finish(struct rnic_slot *slot, uint32_t filled, int res);
// The slot's command was not posted, for want of memory: ended() with -ENOMEM at the end of the
// round.
void rnic_slot_unsent(struct rnic_slot *slot);
