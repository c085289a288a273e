// SPDX-License-Identifier: BSD-2-Clause
// Private to the target's end of a channel, shared by its files.
#pragma once

#include "transport/rdma/sends.h"
#include "transport/srp/target.h"

enum {
	SRP_SLOT = 256,	     // bytes of a response: 36, and as much sense data as usual
	SRP_RX_EXTRA = 4,    // receive buffers beyond the credits: CRED_RSP, AER_RSP, I_LOGOUT
	SRP_TX_EXTRA = 1024, // limit of queued sends beyond the credits; then the channel closes
	SRP_MOVES_MAX = 512, // RDMA requests in flight; further descriptors wait for their turn
	SRP_TABLES_MAX = 4,  // external tables in memory
};

// What moves data calls.
struct srpc_steps {
	void (*posted)(struct srp_task *t);  // every request of srpc_move() is posted
	void (*refused)(struct srp_task *t); // the table is invalid, nothing was posted
	// Perhaps nothing of t is in flight any more: takes the step that waited for that.
	void (*settle)(struct srp_task *t);
};

struct srp_channel {
	const struct srpc_steps *steps;
	const struct srp_channel_up *up;
	void *role;
	struct worker *worker;
	struct rnic *rnic;
	struct rnic_qp *qp;
	const char *carrier;
	struct srp_accept accept;
	uint16_t imm_offset; // 0: no immediate data was agreed on

	struct rnic_transfers transfers;
	struct rnic_sends sends; // task: of a response, the task that it ends
	struct rnic_drain *drain;
	struct list member; // of the drain: the channels of the nexus
	struct list tasks;
	struct rnic_rx *current;  // the IU being processed, unless a task holds its buffer
	struct srp_task *rx_task; // ... the one that has taken it; NULL again when it drops it

	struct list turns, table_turns; // tasks that wait for moves or tables to become fewer
	uint32_t moves;			// RDMA requests in flight
	uint32_t reads;			// ... of them reads
	uint64_t reads_ns;		// when one was last answered, or the first was posted
	uint32_t tables;		// external tables in memory
	uint64_t kept;			// bytes of descriptors and immediate data, PEER_DATA_OUT

	// The initiator's REQUEST LIMIT; accept.credits = credits + owed + IUs without a response.
	uint32_t credits;
	uint32_t owed;			  // of commands that got no response
	uint64_t cred_asked_ns, cred_tag; // CRED_REQ that is not answered; 0: none
	uint64_t event_asked_ns, event_tag;

	bool has_heard; // an IU: before that nothing may be sent
	bool is_closing, is_closed;
	uint64_t closing_ns;
	uint32_t reserved; // receive buffers
	uint64_t ius_in, ius_out, last_tag;
};

static inline struct srp_channel *srp_channel_of(const struct rnic_send *tx)
{
	return container_of(tx->of, struct srp_channel, sends);
}

// target_tx.c: responses, credits, the IUs that need an answer, the close. --------------------

// Closes for our own reason: with a T_LOGOUT of that reason, or without.
void srpc_logout(struct srp_channel *ch, enum srp_logout_reason reason, int code, const char *fmt,
		 ...) __attribute__((format(printf, 4, 5)));
void srpc_fail(struct srp_channel *ch, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
// The response of t, which it refers to until done, whose rnic_send's task is t.
void srpc_send_result(struct srp_task *t, const struct srp_result *r,
		      void (*done)(struct rnic_wr *wr, int res));
// Answers a command that never became a task: its IU is invalid, or BUSY.
void srpc_send_invalid(struct srp_channel *ch, uint64_t tag);
void srpc_send_busy(struct srp_channel *ch, uint64_t tag);
// The answer of a task management request, after the drain.
void srpc_send_tmf(struct srp_channel *ch, uint64_t tag, enum srp_rsp_code code);
// One more credit without a response: returned with the next IU, or by a CRED_REQ.
void srpc_owe(struct srp_channel *ch);
// CRED_RSP, AER_RSP.
void srpc_on_cred_rsp(struct srp_channel *ch, uint64_t tag);
void srpc_on_aer_rsp(struct srp_channel *ch, uint64_t tag);
// The connection is closed: forgets responses that wait.
void srpc_drop_held(struct srp_channel *ch);

// target_early.c: descriptors and immediate data of a command. ------------------------------

// Takes over both sides of a command. -ENOMEM: nothing is allocated, or its peer may not keep more.
int srpc_sides_copy(struct srp_channel *ch, struct srp_side *out, struct srp_side *in,
		    const struct srp_command *c);
void srpc_side_free(struct srp_channel *ch, struct srp_side *s);
// Keeps the immediate data of a command in its receive buffer, ch->current.
void srpc_keep_immediate(struct srp_task *t, const uint8_t *imm);
// A command that must wait does not hold a buffer that others may soon need.
void srpc_give_back(struct srp_task *t);
void srpc_drop_immediate(struct srp_task *t);
// Copies the first t->want bytes of immediate data to t->sg.
void srpc_place_immediate(struct srp_task *t);

// target_data.c: RDMA of a task. -----------------------------------------------------------

// Starts to move what t->sg has of the data; steps->posted or refused follows, perhaps from inside.
void srpc_move(struct srp_task *t);
// A table has been fetched and nothing of t is in flight: checks it and continues.
void srpc_table_came(struct srp_task *t);
void srpc_table_put(struct srp_task *t);
static inline void srpc_table_free(struct srp_task *t)
{
	if (t->fetched)
		srpc_table_put(t);
}
// Cancels what t waits for.
void srpc_wait_ends(struct srp_task *t);
// The connection is closed: cancels all waits.
void srpc_drop_waits(struct srp_channel *ch);

// target_task.c: the steps of a command. ---------------------------------------------------

extern const struct srpc_steps srpc_steps;
struct srp_wait srpc_reads(const struct srp_channel *ch);
struct srp_wait srpc_output(const struct srp_channel *ch);

// target_rx.c: IUs. ---------------------------------------------------------------------

void srpc_received(struct srp_channel *ch, struct rnic_rx *rx);
