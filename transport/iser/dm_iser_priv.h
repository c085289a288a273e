// SPDX-License-Identifier: BSD-2-Clause
// Private to the target's iSER mover: its connection, shared by its files.
#pragma once

#include "transport/iscsi/dm_task.h"
#include "transport/iser/iser.h"
#include "transport/rdma/sends.h"
#include "transport/rdma/transfer.h"

enum {
	ISER_SLOT = 256,      // bytes of a send: headers and ISER_FFP_DATA_MAX
	ISER_LOGIN_RX = 2,    // receive buffers of a connection during login
	ISER_EXTRA_RX = 8,    // ... beyond the command window: pings, task management, text, logout
	ISER_TX_EXTRA = 1024, // limit of queued sends beyond the window; then the connection closes
};
_Static_assert(ISER_SLOT >= ISER_HDR_LEN + ISCSI_BHS_LEN + ISER_FFP_DATA_MAX, "slot");

struct dm_iser;

// The room of a task.
struct dm_iser_task {
	struct dm_out out;
	struct list link;     // dm_iser.tasks
	struct buf_wait wait; // for a pool buffer
	struct dm_iser *d;
	struct iser_tag write, read; // the initiator's memory; "read" takes data-in
	bool has_write, has_read;
	uint32_t room; // bytes of data-in that fit into what is left of it
	// Immediate data, in its receive buffer.
	struct rnic_rx *rx;
	const uint8_t *imm;
	uint32_t imm_len;

	enum { ISER_IDLE, ISER_READING, ISER_SENDING, ISER_WRITING } transfer; // SENDING: a part
	struct rnic_transfer move;					       // the current one

	unsigned pending;    // what refers to the task beside its RDMA: sends, and waits
	uint64_t sending_ns; // when put_part or put_data was called
	bool is_ending;	     // put_data was called and only pending and RDMA delay the end
	bool is_draining;    // ... without status: counted in dm_iser.drain
};

static inline struct dm_iser_task *dm_iser_task(const struct dm_task *t)
{
	return (struct dm_iser_task *)dm_out(t);
}

static inline struct dm_task *dm_task_of(const struct dm_iser_task *it)
{
	return (struct dm_task *)it - 1;
}

struct dm_iser {
	struct dm dm;
	struct worker *worker;
	struct rnic *rnic;
	struct rnic_qp *qp;
	struct iscsi_params params;
	enum iscsi_phase phase;
	bool can_invalidate;
	bool has_said_hello, is_hello_due; // required: nothing else is accepted
	bool is_closing, is_closed;
	uint64_t closing_ns;

	struct rnic_transfers transfers;
	struct rnic_sends sends; // task: of a status, the task that it ends; flags: DM_*
	struct list tasks;
	struct dm_owed owed;	      // unsolicited data
	struct rnic_rx *current;      // the message being processed, unless a task holds its buffer
	struct dm_iser_task *rx_task; // ... the one that has taken it; NULL again when it drops it

	struct rnic_drain drain; // what task management responses wait for

	uint32_t reserved; // receive buffers
	uint32_t rx_held;  // ... that tasks hold
	uint64_t pdus_in, pdus_out;
};

static inline struct dm_iser *dm_iser(struct dm *dm)
{
	return container_of(dm, struct dm_iser, dm);
}

// dm_iser_tx.c: sends. ------------------------------------------------------------------

// Closes for our own reason.
void dm_iser_fail(struct dm_iser *d, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
// A send with room for len bytes of data after the zeroed headers; NULL: out of memory, and the
// connection is closing.
struct rnic_send *dm_iser_tx_get(struct dm_iser *d, uint32_t len);
// Sends it with len bytes of data: fills in iSER header, DataSegmentLength and padding.
void dm_iser_tx_post(struct dm_iser *d, struct rnic_send *tx, uint32_t len);
// ... the iSER header alone, unchanged.
void dm_iser_tx_post_header(struct dm_iser *d, struct rnic_send *tx);
uint8_t *dm_iser_tx_bhs(struct rnic_send *tx);
void dm_iser_send(struct dm *dm, const uint8_t *bhs, const void *data, uint32_t len,
		  unsigned flags);
void dm_iser_reject(struct dm_iser *d, uint8_t reason, const uint8_t *bad);
// The connection is closed: forgets the task management responses that wait.
void dm_iser_drop_held(struct dm_iser *d);

// dm_iser_early.c: unsolicited data before get_data. -------------------------------------

// Keeps the immediate data of a command in its receive buffer, d->current.
void dm_iser_keep_immediate(struct dm_iser_task *it);
// A command that must wait: its peer holds no more buffers than were reserved for it, and none that
// others may soon need.
void dm_iser_give_back(struct dm_iser_task *it);
// n bytes at offset of the command's data have arrived: to their destination if there is one.
void dm_iser_take(struct dm_iser_task *it, uint32_t offset, const uint8_t *data, uint32_t n);
void dm_iser_unpark(struct dm_iser_task *it); // get_data was called: the same for earlier data
// Discards data received before get_data.
void dm_iser_drop_data(struct dm_iser_task *it);
// The same, and later data.
void dm_iser_forget(struct dm_iser_task *it);

// dm_iser_task.c: the steps of a command. -------------------------------------------------

void dm_iser_get_data(struct dm *dm, struct dm_task *t, struct sg *sg, uint32_t nsg, uint32_t len);
void dm_iser_put_part(struct dm *dm, struct dm_task *t, struct sg *sg, uint32_t nsg, uint32_t len);
void dm_iser_put_data(struct dm *dm, struct dm_task *t, struct dm_result *r);
// Takes the next step of a task: copies, reads, completion of get_data, a deferred status.
void dm_iser_progress(struct dm_iser_task *it);
// The connection is closed: cancels all waits for buffers.
void dm_iser_drop_waits(struct dm_iser *d);
uint64_t dm_iser_oldest_owed(struct dm *dm);
uint64_t dm_iser_owed_since(const struct dm_iser *d);
uint64_t dm_iser_tx_since(const struct dm_iser *d);

// dm_iser_rx.c: messages. ----------------------------------------------------------------

void dm_iser_received(struct dm_iser *d, struct rnic_rx *rx);
