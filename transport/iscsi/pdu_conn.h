// SPDX-License-Identifier: BSD-2-Clause
// PDUs over one TCP stream: framing on the way in, ordered batches on the way out, digests
// both ways. Role-neutral; the target's and the initiator's TCP movers sit on it.
// RFC 7143 4.2, 11.1, 13.1.
//
// In: one state machine does all framing. Headers are received in a scratch buffer that the
// connections of a worker share, so that one receive delivers many commands; a data segment is
// received directly into its sink. Only data that arrived in the scratch buffer together with a
// header is copied, and when large segments are expected, reading ahead stops at the header (see
// rx_limit in pdu_rx.c).
// Out: PDUs are queued and sent with one sendmsg a batch, data directly from its memory.
//
// All on the worker that owns the stream; nothing blocks.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/err.h"
#include "core/list.h"
#include "core/worker.h"
#include "transport/iscsi/keys.h"
#include "transport/iscsi/pdu.h"
#include "transport/tcp/stream.h"

struct pdu_conn;

// An outgoing PDU. Get it with pdu_tx_get(), fill and queue it; the connection frees it.
struct pdu_tx {
	struct list link;
	uint8_t bhs[ISCSI_BHS_LEN];
	uint8_t header_digest[ISCSI_DIGEST_LEN];
	uint8_t tail[8]; // pad and data digest
	uint8_t header_len, tail_len;
	uint32_t data_len;
	uint64_t queued_ns; // since when it waits
	// Data: len bytes from sg_offset in sg, or at data.
	const struct sg *sg;
	uint32_t nsg;
	uint64_t sg_offset;
	uint8_t *data;	// instead of sg
	bool owns_data; // data is freed together with the PDU
	bool freezes;	// data in sg may change: it is copied when it leaves, for its digest
	// Called when the last byte was sent, or (res < 0) the connection is closed; -EFAULT:
	// because the kernel could not read its data.
	void (*sent)(struct pdu_conn *c, void *owner, int res);
	void *owner;
};

// The destination of the data segment being received.
enum pdu_sink_kind {
	PDU_DISCARD,
	PDU_TO_SG,     // to sg from sg_offset on; at most len bytes, the rest is discarded
	PDU_TO_BUFFER, // to a buffer of the connection, passed on when complete
};
struct pdu_sink {
	enum pdu_sink_kind kind;
	struct sg *sg;
	uint32_t nsg, len;
	uint64_t sg_offset;
	void *owner; // for pdu_conn_discard(c, owner)
};

// What the connection calls. All slots are required. None may call pdu_conn_free().
struct pdu_conn_ops {
	// A header has arrived and is well formed for role and phase. Without a data segment the
	// PDU is complete and received does not follow. *sink is preset to PDU_DISCARD. The
	// pointers are valid during the call. Negative: the connection closes for the reason in e.
	int (*header)(struct pdu_conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		      const uint8_t *ahs, struct pdu_sink *sink, struct err *e);
	// The data segment is complete. bhs is a copy of the header; data is set for PDU_TO_BUFFER.
	// res: 0, or -EBADMSG if the data digest is wrong, or -EFAULT if the kernel could not write
	// to the sink's memory; all of the segment has been taken from the stream.
	int (*received)(struct pdu_conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
			const uint8_t *data, int res, struct err *e);
	// A hint during a receive of several PDUs: this header, not checked yet, follows the next
	// one, so the memory that it needs can be prefetched. NULL: a new receive begins, older
	// hints are void.
	void (*ahead)(struct pdu_conn *c, const uint8_t *bhs);
	// A header that requires a Reject (its data is discarded).
	int (*reject)(struct pdu_conn *c, uint8_t reason, const uint8_t *bhs, struct err *e);
	// The stream is closed; called once, after sent of every queued PDU with -EPIPE.
	void (*closed)(struct pdu_conn *c, const struct err *e);
};

enum pdu_rx_state {
	PDU_RX_BHS,  // for the 48 bytes
	PDU_RX_MORE, // for AHS and header digest
	PDU_RX_DATA, // for the data segment
	PDU_RX_TAIL, // for pad and data digest
};

struct pdu_conn {
	struct worker *worker;
	struct stream *stream; // NULL once closed
	const struct pdu_conn_ops *ops;
	void *owner;
	enum iscsi_role role;
	enum iscsi_phase phase;
	struct iscsi_params params; // of full feature phase
	uint32_t max_recv_data;
	bool header_digest, data_digest;

	// in
	enum pdu_rx_state rx_state;
	uint32_t rx_have;  // bytes of header or tail so far
	uint32_t rx_limit; // how far a receive may read ahead
	uint32_t rx_left;  // PDUs left of this round's share
	uint64_t rx_until; // ... and when its time ends; 0: not yet known
	uint64_t rx_tick;  // the coarse clock when the other was read last
	uint8_t *rest; // received, but not processed before receiving stopped or the share ended
	uint32_t rest_len, rest_at;
	uint32_t rx_streak; // PDUs in a row without a large data segment
	uint32_t rx_small;  // ... that had a small one
	uint32_t data_left, data_done, tail_len;
	uint32_t rx_crc;
	int rx_error; // of the sink's memory
	struct iscsi_pdu rx_pdu;
	struct pdu_sink sink;
	uint32_t sink_index, sink_offset; // cursor into sink.sg
	uint8_t *buffer;		  // PDU_TO_BUFFER
	uint32_t buffer_len;
	uint64_t buffer_ns; // since when
	uint8_t rx_header[ISCSI_BHS_LEN + ISCSI_AHS_MAX + ISCSI_DIGEST_LEN];
	uint8_t rx_tail[8];
	bool is_in_rx, is_rx_posted, is_rx_stopped;
	bool is_tx_posted;
	struct msg tx_msg; // sends more in the next round when the share is used up
	uint64_t tx_round; // worker_now() of the round that tx_share is for
	uint32_t tx_share; // bytes that may still be sent in it
	struct msg rx_msg; // continues in the next round when the share is used up

	// out
	struct list tx;
	unsigned tx_count;
	uint64_t tx_bytes;
	uint64_t last_tx_ns; // when a byte was last sent, or the queue became non-empty
	uint64_t tx_kept;    // bytes of the queued PDUs and of data that they own
	uint32_t tx_offset;  // bytes of the first PDU already sent
	bool is_tx_blocked;  // the socket is full
	bool is_closing;     // close when tx is empty
	uint64_t closing_ns; // ... since then
	struct defer tx_defer;
	struct err why; // of the close
	bool is_closed;

	uint64_t bytes_in, bytes_out, pdus_in, pdus_out, digest_errors;
	struct buf_copies copied;
	uint64_t last_rx_ns;
};

// Initialises c with a connected socket, which it owns, on failure too. Enables keepalives. The
// phase is login, digests are off, data segments up to ISCSI_LOGIN_DATA_MAX.
int pdu_conn_init(struct pdu_conn *c, struct worker *w, int fd, enum iscsi_role role,
		  const struct pdu_conn_ops *ops, void *owner, struct err *e);

// Frees what c holds; the stream must be closed. Not from inside a callback.
void pdu_conn_done(struct pdu_conn *c);

// Settings from the next PDU on, in both directions.
void pdu_conn_set_phase(struct pdu_conn *c, enum iscsi_phase phase, uint32_t max_recv_data,
			bool header_digest, bool data_digest);
// The same, from the parameters of a login.
void pdu_conn_full_feature(struct pdu_conn *c, const struct iscsi_params *params);

// Closes at once or, with linger, after the queue is sent. closed follows.
void pdu_conn_close(struct pdu_conn *c, bool linger, const struct err *why);

// Discards the rest of the segment being received if owner is that of its sink.
void pdu_conn_discard(struct pdu_conn *c, const void *owner);

// Pauses receiving (memory is short, the peer does not read) and resumes it. No PDU is processed
// while paused, not even one that was already received.
void pdu_conn_stop_rx(struct pdu_conn *c);
void pdu_conn_start_rx(struct pdu_conn *c);

// A zeroed PDU to fill; NULL: no memory. Return it with pdu_tx_put() if it is not queued.
struct pdu_tx *pdu_tx_get(struct pdu_conn *c);
void pdu_tx_put(struct pdu_conn *c, struct pdu_tx *tx);
// A PDU with this header and a copy of len bytes of data other than payload (text, pings).
struct pdu_tx *pdu_tx_copy(struct pdu_conn *c, const uint8_t bhs[ISCSI_BHS_LEN], const void *data,
			   uint32_t len);

// Queues tx: fills in DataSegmentLength, pad and digests. It is sent at the end of the round, or by
// pdu_conn_flush(). On a closed connection its sent is called at once.
void pdu_tx_queue(struct pdu_conn *c, struct pdu_tx *tx);
void pdu_conn_flush(struct pdu_conn *c);

// private to pdu_*.c
void pdu_rx_run(struct pdu_conn *c);
void pdu_rx_reset(struct pdu_conn *c);
void pdu_rx_free(struct pdu_conn *c); // what was received and not passed on
int pdu_scratch_get(void);	      // adds a user of the worker's scratch; -ENOMEM
void pdu_scratch_put(void);
void pdu_tx_drop_all(struct pdu_conn *c);
void pdu_tx_flush_most(struct pdu_conn *c); // keeps a short rest that would be a separate packet
void pdu_tx_trim(void);
