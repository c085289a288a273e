// SPDX-License-Identifier: BSD-2-Clause
// The target's end of an RDMA channel of SRP: receives IUs, moves data by RDMA Writes and Reads,
// sends responses, keeps the credits. T10 SRP 4, 5, 6. What is above it (target/srp) has the
// nexuses and the device server.
//
// A channel belongs to the worker of its connection: every function is called there, none blocks.
// Callbacks come from its loop, but for those that say otherwise.
#pragma once

#include "core/buf.h"
#include "transport/rdma/drain.h"
#include "transport/rdma/transfer.h"
#include "transport/srp/iu.h"
#include "transport/srp/login.h"

struct srp_channel;
struct srp_task;

// A command's result.
struct srp_result {
	struct sg *sg; // data-in: data_len bytes
	uint32_t nsg, data_len;
	uint8_t status;
	uint8_t flags; // SRP_DOUNDER ...
	uint32_t out_residual, in_residual;
	const uint8_t *sense;
	uint32_t sense_len;
};

// The data of one direction of a command, with its descriptors as on the wire.
struct srp_side {
	uint8_t format;
	uint32_t len, count;
	uint8_t *descs; // own, or malloc'ed
	uint8_t own[2 * SRP_DIRECT_LEN];
	struct srp_desc table; // has to be fetched if it has more than count
};

// The channel's part of a command, embedded in that of the role.
struct srp_task {
	uint64_t tag;
	// Data-out may still arrive in the memory of get_data: an RDMA Read is in flight.
	bool is_fetching;

	// Private to the channel.
	struct srp_channel *channel;
	struct list link;     // srp_channel.tasks
	struct list turn;     // srp_channel.turns, table_turns
	struct buf_wait wait; // for a pool buffer
	struct rnic_rx *rx;   // holds the immediate data, or NULL
	uint8_t *imm;	      // ... its place there, or in a malloc'ed copy
	enum { SRP_IDLE, SRP_FETCHING, SRP_READING, SRP_WRITING } step; // FETCHING: a table
	bool is_in;							// what is moved is data-in
	struct rnic_transfer move;					// the current one
	struct buf *fetched;						// the table
	const struct srp_result *result;
	unsigned pending;	      // what refers to the task beside its RDMA: sends, and waits
	bool is_failed;		      // a Read has failed, the connection is closing
	bool is_refused;	      // the table is invalid: the response says so
	bool is_ending;		      // only pending and RDMA delay the end
	bool is_draining;	      // counted in the drain
	bool has_answer;	      // the response, with the credit, is posted
	uint32_t out_moved, in_moved; // bytes that earlier pieces have
	uint64_t since_ns;	      // when a piece of its data, or its end, began
	// What a new task has zeroed ends here.
	struct sg *sg;
	uint32_t nsg;
	uint32_t base, want; // bytes of the data to be moved: sg has those from base to want
	uint32_t at, next;   // bytes of descriptors begun, index of the next one
	struct sg table_sg;
	struct srp_side out, in;
};

// What a channel calls. All slots are required.
struct srp_channel_up {
	// A command: the role's struct with room for the channel's part, or NULL: it is dropped and
	// its credit returned. c is valid during the call; the CDB must be copied. begin() follows,
	// or released() if memory for the descriptors lacks.
	struct srp_task *(*command)(struct srp_channel *ch, const struct srp_command *c);
	// The channel has taken over what belongs to t: it may be executed.
	void (*begin)(struct srp_channel *ch, struct srp_task *t);
	// srp_get_data() has ended: 0, or -EPIPE the connection is closed, -EMSGSIZE the command
	// has less data-out than that, -EPROTO its table is invalid (whatever the result, the
	// initiator is told so), -ENOBUFS. Perhaps from inside srp_get_data(); not called if the
	// connection closes meanwhile.
	void (*data)(struct srp_channel *ch, struct srp_task *t, int res);
	// srp_put_part() has ended: 0, or -EPIPE, -EPROTO as for data(). From inside srp_put_part()
	// only -EPROTO; not after srp_put_data(), and not if the connection closes meanwhile.
	void (*part)(struct srp_channel *ch, struct srp_task *t, int res);
	// After srp_put_data(), perhaps from inside it, or in place of begin(): the transport
	// refers to t and its memory no more.
	void (*released)(struct srp_channel *ch, struct srp_task *t);
	// A task management request: srp_answer_tmf() follows, later or from inside.
	void (*task_mgmt)(struct srp_channel *ch, const struct srp_task_mgmt *m);
	// I_LOGOUT: the role ends its tasks and closes the channel.
	void (*logout)(struct srp_channel *ch);
	// The connection is closed, no request is in flight; tasks that are not released still
	// belong to the role, which ends each by srp_put_data(NULL). srp_channel_free() follows
	// when none is left.
	void (*closed)(struct srp_channel *ch, const struct err *why);
};

struct srp_channel_options {
	struct srp_accept accept; // LOGIN_RSP; credits: also the limit of commands
	uint16_t imm_offset;	  // of the login; immediate data is taken if accept.flags says so
	uint8_t tos;
	uint16_t pkey;
	// Of the nexus: what task management responses wait for. Until srp_channel_free().
	struct rnic_drain *drain;
};

// Accepts the connection with the LOGIN_RSP. On an error q is rejected with reason and freed.
int srp_channel_new(struct srp_channel **ret, struct rnic_request *q,
		    const struct srp_channel_options *o, const struct srp_channel_up *up,
		    void *role, struct err *e);
// After closed, and when no task is left; NULL is fine.
void srp_channel_free(struct srp_channel *ch);
void *srp_channel_role(const struct srp_channel *ch);

// Moves the next len bytes of t's data-out into sg, which is kept until up->data. The first call
// covers immediate data.
void srp_get_data(struct srp_task *t, struct sg *sg, uint32_t nsg, uint32_t len);
// Moves the next len bytes of t's data-in from sg, which is kept until up->part.
void srp_put_part(struct srp_task *t, struct sg *sg, uint32_t nsg, uint32_t len);
// Ends t: moves what is left of data-in, then sends the response, then up->released. r is kept
// until then. NULL: no response (aborted); its credit is returned with a later IU.
void srp_put_data(struct srp_task *t, const struct srp_result *r);
// Answers a task management request, after the RDMA of aborted tasks (srp_channel_options.drain).
void srp_answer_tmf(struct srp_channel *ch, uint64_t tag, enum srp_rsp_code code);
// Sends AER_REQ, if the initiator has answered the last one and has sent an IU; else nothing. True:
// sent.
bool srp_send_event(struct srp_channel *ch, const uint8_t lun[8], const uint8_t *sense,
		    uint32_t len);
// Asks a silent initiator for an answer with CRED_REQ, once it has sent an IU: false: it has not,
// or has not answered the last one.
bool srp_ping(struct srp_channel *ch);
// Closes; is_graceful: after sending what is queued, with a T_LOGOUT of that reason before. closed
// follows, not from inside. Idempotent.
void srp_channel_close(struct srp_channel *ch, bool is_graceful, enum srp_logout_reason reason,
		       const struct err *why);

// Something that waits for the peer. 0: nothing does.
//
// A role limits both: how long nothing moves, and how long the oldest waits, since a peer may move
// a little again and again. What waits for our own memory is in neither.
struct srp_wait {
	uint64_t since_ns; // the oldest began to wait
	uint64_t stuck_ns; // none of it has moved since
};

// For limits of time and for statistics.
struct srp_channel_info {
	const struct tcp_addr *peer_addr, *local_addr;
	const char *carrier; // "iWARP", "RoCE v2", "InfiniBand"
	struct rnic *rnic;
	uint64_t last_rx_ns, bytes_in, bytes_out, ius_in, ius_out;
	struct srp_wait reads;	// RDMA Reads; one that is answered moves them
	struct srp_wait output; // RDMA Writes and responses: rnic_out_stuck_ns()
	struct srp_wait asked;	// CRED_REQ or AER_REQ; output before its answer moves it
	uint64_t closing_ns;	// since a graceful close waits for the peer; 0: none
	uint64_t buffers;	// bytes of pool buffers that belong to no task
	uint32_t credits;	// REQUEST LIMIT: what the initiator may still send
	struct buf_copies copied;
};
void srp_channel_info(const struct srp_channel *ch, struct srp_channel_info *ret);
