// SPDX-License-Identifier: BSD-2-Clause
// PDUs over one TCP stream: framing on the way in, ordered batches on the way out, digests
// both ways. Role-neutral; the target's and the initiator's TCP movers sit on it.
// RFC 7143 4.2, 11.1, 13.1.
//
// In: one receive machine owns all framing. Headers come out of a scratch buffer that the
// connections of a worker share, so that one receive brings many commands; a data segment is
// received in place, straight into its sink. Only what arrived in the scratch buffer together
// with a header is copied, and reading ahead stops at the header as soon as large segments
// are about (see rx_limit in pdu_rx.c).
// Out: PDUs queue up and leave with one sendmsg a batch, data straight from its memory.
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

// One PDU on its way out. Got with pdu_tx_get(), filled, queued; the connection frees it.
struct pdu_tx {
	struct list link;
	uint8_t bhs[ISCSI_BHS_LEN];
	uint8_t header_digest[ISCSI_DIGEST_LEN];
	uint8_t tail[8]; // pad and data digest
	uint8_t header_len, tail_len;
	uint32_t data_len;
	uint64_t queued_ns; // since when it waits
	// Data: len bytes that begin sg_offset bytes into sg, or at data.
	const struct sg *sg;
	uint32_t nsg;
	uint64_t sg_offset;
	uint8_t *data;	// instead of sg
	bool owns_data; // data is freed with the PDU
	bool freezes;	// data in sg may change: it is copied when it leaves, for its digest
	// Called when the last byte has left, or (res < 0) when the connection is gone.
	void (*sent)(struct pdu_conn *c, void *owner, int res);
	void *owner;
};

// Where the data segment of the PDU being received goes.
enum pdu_sink_kind {
	PDU_DISCARD,
	PDU_TO_SG, // to sg, beginning sg_offset bytes into it; at most len bytes, rest discarded
	PDU_TO_BUFFER, // into a buffer of the connection, handed over whole
};
struct pdu_sink {
	enum pdu_sink_kind kind;
	struct sg *sg;
	uint32_t nsg, len;
	uint64_t sg_offset;
	void *owner; // so that pdu_conn_discard(c, owner) finds it
};

// What the connection calls. All slots are required. None may call pdu_conn_free().
struct pdu_conn_ops {
	// A header is in and well formed for role and phase. Without a data segment the PDU
	// is complete and received does not follow. *sink is preset to PDU_DISCARD. The
	// pointers end with the call. Negative: the connection closes for the reason in e.
	int (*header)(struct pdu_conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		      const uint8_t *ahs, struct pdu_sink *sink, struct err *e);
	// The data segment is in. bhs is the header's copy; data is set for PDU_TO_BUFFER.
	// res: 0, or -EBADMSG when the data digest was wrong.
	int (*received)(struct pdu_conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
			const uint8_t *data, int res, struct err *e);
	// A hint, from inside a receive that brought several PDUs: this header comes after the
	// next one, so that the memory it will need can be fetched meanwhile. It has not been
	// checked. NULL: a new receive begins, older hints mean nothing any more.
	void (*ahead)(struct pdu_conn *c, const uint8_t *bhs);
	// A header that must be answered with Reject (its data is discarded).
	int (*reject)(struct pdu_conn *c, uint8_t reason, const uint8_t *bhs, struct err *e);
	// The stream is gone, once. Every queued PDU's sent has been called with -EPIPE.
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
	uint32_t max_recv_data;
	bool header_digest, data_digest;

	// in
	enum pdu_rx_state rx_state;
	uint32_t rx_have;  // bytes of header or tail gathered
	uint32_t rx_limit; // how far a receive may read ahead
	uint32_t rx_left;  // PDUs of this round's share
	uint64_t rx_until; // ... and when its time is over; 0: not yet known
	uint64_t rx_tick;  // the coarse clock when the other was read last
	uint8_t *rest; // received, but not looked at before receiving stopped or the share ended
	uint32_t rest_len, rest_at;
	uint32_t rx_streak; // PDUs in a row without a large data segment
	uint32_t rx_small;  // ... that had a small one
	uint32_t data_left, data_done, tail_len;
	uint32_t rx_crc;
	struct iscsi_pdu rx_pdu;
	struct pdu_sink sink;
	uint32_t sink_index, sink_offset; // cursor into sink.sg
	uint8_t *buffer;		  // PDU_TO_BUFFER
	uint32_t buffer_len;
	uint64_t buffer_ns; // since when
	uint8_t rx_header[ISCSI_BHS_LEN + ISCSI_AHS_MAX + ISCSI_DIGEST_LEN];
	uint8_t rx_tail[8];
	bool is_in_rx, is_rx_posted, is_rx_stopped;
	struct msg rx_msg; // goes on in the next round when a round's share is used up

	// out
	struct list tx;
	unsigned tx_count;
	uint64_t tx_bytes;
	uint64_t last_tx_ns; // when a byte last left, or could have for the first time
	uint64_t tx_kept;    // bytes of the queued PDUs and of data that they own
	uint32_t tx_offset;  // bytes of the first PDU that have left
	bool is_tx_blocked;  // the socket is full
	bool is_closing;     // close once tx is empty
	uint64_t closing_ns; // ... since then
	struct defer tx_defer;
	struct err why; // of the close
	bool is_closed;

	uint64_t bytes_in, bytes_out, pdus_in, pdus_out, digest_errors;
	struct buf_copies copied;
	uint64_t last_rx_ns;
};

// Initialises c over a connected socket (taken over, closed on failure too), which gets keepalives.
// The phase is login, digests are off, data segments up to ISCSI_LOGIN_DATA_MAX.
int pdu_conn_init(struct pdu_conn *c, struct worker *w, int fd, enum iscsi_role role,
		  const struct pdu_conn_ops *ops, void *owner, struct err *e);

// Frees what c holds; the stream must be closed. Not from inside a callback.
void pdu_conn_done(struct pdu_conn *c);

// What holds from the next PDU on, in both directions.
void pdu_conn_set_phase(struct pdu_conn *c, enum iscsi_phase phase, uint32_t max_recv_data,
			bool header_digest, bool data_digest);
// The same, as a login has agreed.
void pdu_conn_full_feature(struct pdu_conn *c, const struct iscsi_params *params);

// Closes: at once, or with linger after what is queued has left. closed follows.
void pdu_conn_close(struct pdu_conn *c, bool linger, const struct err *why);

// The sink's owner wants no more bytes: the rest of the segment being received is discarded.
void pdu_conn_discard(struct pdu_conn *c, const void *owner);

// Receiving pauses (memory is short, the peer does not read) and goes on. No PDU is looked at while
// it pauses, not even one that came with the last receive.
void pdu_conn_stop_rx(struct pdu_conn *c);
void pdu_conn_start_rx(struct pdu_conn *c);

// A zeroed PDU to fill; NULL: no memory. One that is not queued goes back with pdu_tx_put.
struct pdu_tx *pdu_tx_get(struct pdu_conn *c);
void pdu_tx_put(struct pdu_conn *c, struct pdu_tx *tx);
// One with this header and a copy of len bytes of data that is no payload (text, pings).
struct pdu_tx *pdu_tx_copy(struct pdu_conn *c, const uint8_t bhs[ISCSI_BHS_LEN], const void *data,
			   uint32_t len);

// Queues tx: fills in DataSegmentLength, pad and digests. It leaves at the end of the round,
// or with pdu_conn_flush(). On a closed connection its sent is called at once.
void pdu_tx_queue(struct pdu_conn *c, struct pdu_tx *tx);
void pdu_conn_flush(struct pdu_conn *c);

// private to pdu_*.c
void pdu_rx_run(struct pdu_conn *c);
void pdu_rx_reset(struct pdu_conn *c);
void pdu_rx_free(struct pdu_conn *c); // what was received and not passed on
int pdu_scratch_get(void);	      // one user more of the worker's scratch; -ENOMEM
void pdu_scratch_put(void);
void pdu_tx_drop_all(struct pdu_conn *c);
void pdu_tx_flush_most(struct pdu_conn *c); // keeps a short end that would be a packet of its own
void pdu_tx_trim(void);
