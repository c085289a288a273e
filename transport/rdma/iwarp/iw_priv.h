// SPDX-License-Identifier: BSD-2-Clause
// Private to iwarp/: the device of a worker, its STags and receive buffers, and a connection's two
// state machines. All on the worker's thread.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/buf.h"
#include "core/worker.h"
#include "transport/rdma/iwarp/ddp.h"
#include "transport/rdma/iwarp/mpa.h"
#include "transport/rdma/rnic.h"
#include "transport/tcp/stream.h"

enum {
	IW_HALF_OPEN_MAX = 1024,	    // accepted sockets of a worker that have no request yet
	IW_SCRATCH = 256 << 10,		    // limit of one receive
	IW_SMALL = 8192,		    // payload up to this size may be read ahead and copied
	IW_COUNTED = 512,		    // a larger send is counted as payload when copied
	IW_SINK_STAGS = 0xf0,		    // upper byte of the STags of our read sinks
	IW_STAG_PAGE = 256,		    // STags that are allocated at once
	IW_STAG_PAGES = IW_SINK_STAGS << 8, // of 2^16: separate from those of sinks
	IW_SGE_MAX = 128,		    // pieces of a request
	IW_TX_IOV = 1024,		    // pieces of a batch
	IW_TX_FPDUS = 256,		    // FPDUs of a batch
	IW_TX_COPY = 256,		    // a message up to this is sent with its header
	IW_TX_FRAME = DDP_HEADER_MAX + IW_TX_COPY + MPA_TAIL_MAX,
};

struct iw_qp;

// --- STags [RFC 5041 4.2, RFC 5042] ---

// Memory that a peer may access. Freed slots are reused in turn, with another key.
struct iw_stag {
	uint32_t index, stag;
	unsigned access; // RNIC_REMOTE_*, 0: none. Read by other threads
	uint64_t base;	 // tagged offset of the first byte
	uint64_t len;
	uint64_t high;	  // after the last byte that the peer has written; of scratch
	uint64_t moved;	  // bytes that the peer has written or requested
	bool is_scratch;  // RNIC_SCRATCH
	uint8_t *addr;	  // of the first piece, for listing registrations
	struct iw_qp *qp; // queue pair whose peer may access it; NULL: any peer of the device
	struct rnic_sge *sge;
	uint32_t nsge, room;
	struct rnic_sge one; // the position of a single piece
	struct list link;    // of the qp's, or of the free ones
};

struct iw_stags {
	struct iw_stag **pages; // IW_STAG_PAGES of them
	uint32_t count;		// number of slots; read by other threads
	struct list free;
	uint64_t seed;
};

int iw_stags_init(struct iw_stags *t);
void iw_stags_done(struct iw_stags *t);
// A slot for these pieces; NULL: no memory. qp NULL: for any.
struct iw_stag *iw_stag_new(struct iw_stags *t, struct iw_qp *qp, const struct sg *sg, uint32_t nsg,
			    uint64_t len, uint64_t base, unsigned access);
void iw_stag_revoke(struct iw_stag *s); // ends all access to the memory
void iw_stag_free(struct iw_stags *t, struct iw_stag *s);
uint64_t iw_random(struct iw_stags *t);
// Finds the slot that permits the peer of qp this access to len bytes at to. Returns 0, or the
// violation as a code of the RDMAP layer (of the DDP layer with a different type).
unsigned iw_stag_check(struct iw_stags *t, const struct iw_qp *qp, uint32_t stag, uint64_t to,
		       uint64_t len, unsigned access, struct iw_stag **ret);
// Whether the slot is still the memory that qp's peer found with the STag. Slots are reused, with
// the same key after 256 uses: then another connection owns it.
static inline bool iw_stag_holds(const struct iw_stag *s, const struct iw_qp *qp, uint32_t stag)
{
	return s->stag == stag && s->access && (!s->qp || s->qp == qp);
}
// The slot of a key that qp's peer may invalidate, or NULL.
struct iw_stag *iw_stag_invalidatable(struct iw_stags *t, const struct iw_qp *qp, uint32_t stag);

// --- pieces of memory, from first to last byte ---

struct iw_cursor {
	const struct rnic_sge *sge;
	uint32_t nsge, index, offset; // offset: into sge[index]
};
void iw_cursor_set(struct iw_cursor *c, const struct rnic_sge *sge, uint32_t nsge, uint64_t at);
// The next contiguous bytes, at most max; 0 at the end.
uint32_t iw_cursor_next(struct iw_cursor *c, uint32_t max, uint8_t **ret);

// --- receive buffers ---

struct iw_rx_chunk;
struct iw_rx_pool {
	struct rnic *rnic;  // what the buffers belong to
	struct rnic_mr *mr; // covers them
	struct list free, chunks;
	uint32_t total, out; // buffers in total, buffers in use
	uint32_t reserved, limit;
	struct list waiting; // struct iw_rx_wait
	struct defer wake;
};

// A wait for a buffer: fn is called at the end of a round when one is free.
struct iw_rx_wait {
	struct list link;
	void (*fn)(struct iw_rx_wait *w);
};

void iw_rx_pool_init(struct iw_rx_pool *p, struct rnic *rnic, struct rnic_mr *mr);
void iw_rx_pool_done(struct iw_rx_pool *p);
struct rnic_rx *iw_rx_pool_get(struct iw_rx_pool *p); // NULL: none is free
void iw_rx_pool_put(struct iw_rx_pool *p, struct rnic_rx *rx);
void iw_rx_wait(struct iw_rx_pool *p, struct iw_rx_wait *w, void (*fn)(struct iw_rx_wait *w));
int iw_rx_pool_reserve(struct iw_rx_pool *p, uint32_t count);
void iw_rx_pool_unreserve(struct iw_rx_pool *p, uint32_t count);
void iw_rx_pool_limit(struct iw_rx_pool *p, uint32_t buffers);

// --- the device of a worker: exists while it is used ---

struct iw_device {
	struct rnic rnic; // first
	uint64_t users;
	struct rnic_mr all; // all memory, for local use
	struct iw_stags stags;
	struct iw_rx_pool rx;
	struct list half_open; // oldest first
	uint32_t half_open_count;
	struct defer crowded; // there are too many
	uint8_t *scratch;     // IW_SCRATCH bytes; each receive is consumed at once
	uint8_t *frames;      // IW_TX_FPDUS of IW_TX_FRAME bytes: headers of the batch being sent
	pthread_mutex_t lock;
	struct list mrs; // under lock
};

struct iw_device *iw_device_get(const struct rnic_provider *p, struct worker *w); // NULL: no memory
struct iw_device *iw_device_here(void); // of the calling worker; NULL: it has none
void iw_device_hold(struct iw_device *d);
void iw_device_put(struct iw_device *d);
struct rnic_rx *iw_rx_get(struct iw_device *d); // NULL: none is free
void iw_rx_put(struct rnic_rx *rx);
int iw_rx_reserve(struct rnic *r, uint32_t count);
void iw_rx_unreserve(struct rnic *r, uint32_t count);
void iw_rx_limit(struct rnic *r, uint32_t buffers);

// memory.c
int iw_register(struct rnic *r, struct rnic_mr **ret, void *addr, uint64_t len, unsigned access,
		struct err *e);
void iw_deregister(struct rnic_mr *mr);
struct rnic_mr *iw_find(struct rnic *r, const void *addr, uint64_t len);
void iw_each_mr(struct rnic *r, bool (*fn)(const struct rnic_mr *mr, void *arg), void *arg);
int iw_expose(struct rnic_qp *q, struct rnic_exposed *ret, const struct sg *sg, uint32_t nsg,
	      uint64_t len, unsigned access);
void iw_conceal(struct rnic_qp *q, struct rnic_exposed *x);
void iw_unexpose(struct iw_qp *qp, struct iw_stag *s); // the slot stays held

// --- connections ---

enum iw_state {
	IW_CONNECTING, // active: TCP
	IW_REPLY,      // active: the peer's reply
	IW_REQUEST,    // passive: the peer's request
	IW_PENDING,    // passive: the caller's answer
	IW_RUNNING,    // FPDUs
	IW_OVER,       // the socket is closed
};

enum iw_rx_state {
	IW_RX_HEADER,
	IW_RX_DATA,
	IW_RX_TAIL, // pad and CRC
};

// A read of the peer that we answer.
struct iw_response {
	struct iw_stag *source; // NULL for no bytes
	uint64_t offset;	// into it
	uint64_t sink_to;
	uint32_t source_stag, sink_stag, len, sent;
};

// Contents of rnic_wr.scratch.
enum {
	IW_WR_SENT, // bytes in FPDUs already sent; of a read: received
	IW_WR_MSN,  // of a send or read
	IW_WR_STAG, // of a read's sink
};

// A partially sent FPDU: its bytes except the payload, which stays in its memory.
struct iw_partial {
	uint8_t head[DDP_HEADER_MAX + IW_TX_COPY];
	uint8_t tail[MPA_TAIL_MAX];
	uint32_t head_len, tail_len, sent;
	uint32_t len, external; // of the payload that is not in head
	bool is_there, is_last;
};

struct iw_qp {
	struct rnic_qp qp; // first
	struct iw_device *dev;
	struct worker *worker;
	struct stream *stream; // NULL: not yet, or not any more
	enum iw_state state;
	struct timer timer; // of the startup, of a close that lingers
	struct err why;
	struct defer finish, later, flush;
	bool is_over;

	// the startup
	struct rnic_request request;
	const struct rnic_listener_ops *lops;
	void *larg;
	struct list half_open; // of the device's
	struct mpa_frame peer_frame;
	uint8_t startup[MPA_STARTUP_LEN + MPA_PRIVATE_MAX];
	uint32_t startup_have;
	uint8_t private_data[RNIC_PRIVATE_REQ_MAX];
	uint32_t private_len;
	struct tcp_addr connect_to, connect_from;
	uint8_t revision, tos;
	bool wants_crc;

	// both ways
	bool has_crc;
	struct list stags; // exposures of this queue pair

	// in
	enum iw_rx_state rx_state;
	uint8_t rx_header[DDP_HEADER_MAX];
	uint8_t rx_tail[MPA_TAIL_MAX];
	uint32_t rx_have, rx_need; // bytes of the header (or tail) received, and its length
	struct ddp_segment seg;
	uint32_t rx_crc, data_left;
	struct iw_cursor sink;		   // no pieces: discarded
	struct iw_stag *sink_stag;	   // the owner of that memory
	struct rnic_sge flat;		   // the sink of messages without STag
	uint32_t send_msn_in, read_msn_in; // the next values
	struct rnic_rx *rx;		   // the message being received, and its length so far
	uint32_t rx_len;
	uint8_t rx_opcode;
	uint32_t large_sinks; // reads and exposures above IW_SMALL: nothing is read ahead
	uint8_t term[TERM_MAX];
	struct iw_rx_wait rx_wait; // for a receive buffer
	uint8_t *stash;		   // bytes received after the waiting message or the share
	uint32_t stash_len;
	uint32_t rx_left;   // messages left of this round's share
	uint64_t rx_until;  // ... and when its time ends; 0: not yet known
	struct timer again; // continues in the next round
	struct timer nudge; // active: until the passive side's first Send
	unsigned nudges;
	bool is_in_rx, is_stalled;
	bool is_irregular; // the peer's segments vary in size: nothing is predicted

	// out
	struct list tx;		 // requests not sent yet
	struct list reads;	 // ... that wait for responses
	struct list done;	 // to be reported
	struct iw_response *irq; // a ring of irq_room
	uint32_t irq_room, irq_head, irq_count;
	uint32_t send_msn, read_msn, read_stag;
	struct iw_partial partial;
	bool is_tx_held;       // passive: until the peer's first message
	bool is_tx_blocked;    // the socket is full
	bool is_in_message;    // ... has begun and must continue
	bool is_response_turn; // with both present; within a message: its kind
	uint32_t mulpdu;       // limit of payload and header of an FPDU that we send
	int read_error;	       // of the oldest read, from the peer's Terminate
};

static inline struct iw_qp *iw_of(struct rnic_qp *q)
{
	return (struct iw_qp *)(void *)q;
}

// conn.c
struct iw_qp *iw_qp_new(const struct rnic_provider *p, struct worker *w, struct err *e);
void iw_qp_delete(struct iw_qp *qp);
int iw_running(struct iw_qp *qp, const struct rnic_qp_options *o); // -ENOMEM
void iw_later(struct iw_qp *qp, void (*fn)(struct defer *d));
void iw_stop_timers(struct iw_qp *qp);

// end.c: ends the connection with this reason, unless it has one. No callback from inside; closed
// follows at the end of the round.
void iw_end(struct iw_qp *qp, const struct err *why);
// ... the stream's, 0: the peer closed it.
void iw_lost(struct iw_qp *qp, const char *what, int reason);
// The peer violated the protocol: sends a Terminate, if the socket takes it, and ends.
void iw_fail(struct iw_qp *qp, unsigned code, bool quotes, const char *text);
void iw_report(struct iw_qp *qp); // calls done of sent requests
// Ends the reads, or the other requests, of a list.
void iw_cancel(struct iw_qp *qp, struct list *l, bool is_read);

// passive.c
// p: whose table the rnic, the queue pair and the request refer to.
int iw_passive(const struct rnic_provider *p, struct worker *w, int fd,
	       const struct rnic_listener_ops *ops, void *arg, struct err *e);
// Ends a passive connection that was not accepted: silently, or with gone if its request was
// delivered, or before that with refused.
void iw_drop(struct iw_qp *qp);
int iw_accept(struct rnic_request *q, struct rnic_qp **ret, const struct rnic_qp_options *o,
	      const struct rnic_qp_ops *ops, void *owner, struct err *e);
void iw_reject(struct rnic_request *q, const void *private_data, uint32_t len);

// active.c
int iw_connect(const struct rnic_provider *p, struct rnic_qp **ret, struct worker *w,
	       const struct tcp_addr *peer, const struct tcp_addr *local,
	       const struct rnic_qp_options *o, const struct rnic_qp_ops *ops, void *owner,
	       struct err *e);

// close.c
void iw_close(struct rnic_qp *q, bool linger, const struct err *why);

// listen.c
int iw_listen(const struct rnic_provider *p, struct rnic_listener **ret, struct worker *w,
	      const struct tcp_addr *addr, const struct rnic_listener_ops *ops, void *arg,
	      struct err *e);
const struct tcp_addr *iw_listener_addr(const struct rnic_listener *l);
void iw_listener_free(struct rnic_listener *l);

// A receive buffer for the next message, if it has none. False: none is free.
static inline bool iw_open_buffer(struct iw_qp *qp)
{
	if (!qp->rx) {
		qp->rx = iw_rx_get(qp->dev);
		qp->rx_len = 0;
	}
	return qp->rx;
}

// rx.c
void iw_rx_run(struct iw_qp *qp);

// rx_msg.c: handles a segment's header and its end. 0, or a term_code; iw_segment_begin() returns 0
// with is_stalled if no buffer is free.
unsigned iw_segment_begin(struct iw_qp *qp);
unsigned iw_segment_end(struct iw_qp *qp);

// tx.c
void iw_post(struct rnic_qp *q, struct rnic_wr *wr);
void iw_flush(struct rnic_qp *q);
void iw_tx_run(struct iw_qp *qp);
void iw_tx_soon(struct iw_qp *qp);
void iw_tx_ready(struct stream *s); // a slot of struct stream_ops
// Calls done of sent requests; a close that lingers ends with the last one.
void iw_deliver(struct iw_qp *qp);
bool iw_has_tx(const struct iw_qp *qp);
void iw_tx_nothing(struct iw_qp *qp); // an RDMA Write of no bytes, if nothing else is queued
