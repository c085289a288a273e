// SPDX-License-Identifier: BSD-2-Clause
// The interface between users of RDMA (iSER, SRP) and its providers: a device through
// libibverbs (verbs/) or software iWARP over TCP (iwarp/). RFC 5040, RFC 5041, IBTA 10.
//
// A queue pair belongs to one worker, as do its requests; all functions are called on that
// worker's thread and all callbacks come from its loop, never from inside a function of this
// header; nothing blocks, unless it says so.
//
// A request is a struct rnic_wr that its owner embeds and keeps until done. Messages are received
// in buffers that all queue pairs of a worker's device share (SRQ).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/err.h"
#include "core/list.h"
#include "core/worker.h"
#include "transport/tcp/addr.h"

struct rnic;
struct rnic_mr;
struct rnic_qp;
struct rnic_provider;

extern const struct rnic_provider rnic_iwarp; // iwarp/: software iWARP, needs no device
extern const struct rnic_provider rnic_verbs; // verbs/: InfiniBand, RoCE and iWARP adapters

enum {
	RNIC_RX_SIZE = 8448,	    // of a receive buffer: iSER's 76 + 8192, SRP's 8276, and AHS
	RNIC_PRIVATE_MAX = 196,	    // bytes of private data that some message can carry
	RNIC_PRIVATE_REQ_MAX = 56,  // ... that a connect can
	RNIC_PRIVATE_REJ_MAX = 148, // ... that a reject can
	RNIC_READS_MAX = 128,	    // of reads in flight a connection may agree on
};

// What a device can do. Constant.
struct rnic_limits {
	uint32_t max_send_wr;  // work requests a queue pair takes before the first is done
	uint32_t max_sge;      // pieces of a send or write
	uint32_t max_read_sge; // pieces of a read's sink
	uint32_t max_inline; // bytes of a send that travel in the request itself, which is faster;
			     // its memory is to be kept until done all the same
	uint32_t max_reads_out; // reads in flight that we may ask for
	uint32_t max_reads_in;	// ... that we can answer
	uint64_t max_message;	// bytes of one send, write or read
	bool needs_remote_sink; // the sink of a read needs remote-write rights (iWARP adapters)
	bool can_invalidate;	// RNIC_SEND_INVALIDATE can be sent
	bool scatters_exposed;	// rnic_expose() takes more than one piece
	bool revokes_exposed;	// rnic_conceal() takes effect at once, no byte around what was
				// exposed is within reach, and the peer may invalidate it. Else a
				// peer that knows the key reaches the registration that the memory
				// lies in, until the queue pair is closed
};

// --- memory ---

enum {
	RNIC_REMOTE_READ = 1,
	RNIC_REMOTE_WRITE = 2,
	// Of rnic_expose() alone: until rnic_conceal() nothing in the memory is worth keeping but
	// what the peer writes; what it does not write may have changed.
	RNIC_SCRATCH = 4,
};

// One registration. Read only outside the provider.
struct rnic_mr {
	struct rnic *rnic; // of rnic_register(); NULL: it serves all workers
	uint8_t *addr;
	uint64_t len;
	uint32_t lkey, rkey;
	unsigned access; // RNIC_REMOTE_*; 0: for local use
};

// A piece of memory of a work request. It must lie inside mr.
struct rnic_sge {
	uint8_t *addr;
	uint32_t len;
	struct rnic_mr *mr;
};

// Memory that the peer may reach until rnic_conceal().
struct rnic_exposed {
	uint32_t rkey;
	uint64_t remote_addr; // what the peer counts its offsets from
	// Bytes that the peer has written there or asked for so far, the same ones twice if it did
	// so twice; to be read until rnic_conceal(). NULL: the device does not count.
	const uint64_t *moved;
	void *handle; // the provider's
};

// Registers memory. Blocks for as long as the kernel takes to pin it. -ENOMEM names the memlock
// limit and its cure.
int rnic_register(struct rnic *r, struct rnic_mr **ret, void *addr, uint64_t len, unsigned access,
		  struct err *e);
void rnic_deregister(struct rnic_mr *mr); // NULL is fine; no request may use it any more

// The registration, for local use, that covers len bytes at addr: a buffer of this worker's
// pool, a RAM disk (core/region.h), or what rnic_register() was given. NULL: there is none, copy
// into a buffer that has one. O(log n), no lock.
struct rnic_mr *rnic_find(struct rnic *r, const void *addr, uint64_t len);

// Lets the peer of qp read or write (access) exactly the len bytes of sg, for one command. The
// list is copied. -EOPNOTSUPP: several pieces where the device takes one, or memory that was not
// registered for it; -ENOMEM.
int rnic_expose(struct rnic_qp *qp, struct rnic_exposed *ret, const struct sg *sg, uint32_t nsg,
		uint64_t len, unsigned access);
// Ends that; from here on nothing the peer sends reaches the memory (where the device cannot
// revoke, that is true once the command was answered or the queue pair has closed). Fine after
// the peer has invalidated it.
void rnic_conceal(struct rnic_qp *qp, struct rnic_exposed *x);

// Calls fn for every registration the device holds now, until it returns false. For statistics
// and for the test that a target grants no remote rights. Any thread; takes a lock.
void rnic_each_mr(struct rnic *r, bool (*fn)(const struct rnic_mr *mr, void *arg), void *arg);

// --- work requests ---

enum rnic_opcode {
	RNIC_SEND,
	RNIC_SEND_INVALIDATE, // ... and invalidates rkey at the peer
	RNIC_WRITE,	      // to remote_addr, rkey
	RNIC_READ,	      // from remote_addr, rkey
};

enum {
	RNIC_SIGNALED = 1,  // done soon; without, done may wait for a later signaled request
	RNIC_FENCE = 2,	    // begins when all earlier reads of the queue pair are done
	RNIC_SOLICITED = 4, // the receiver is to be woken
	RNIC_LAZY = 8,	    // instead of RNIC_SIGNALED: done with whatever the worker wakes for
			    // next, or some 10 ms later. Saves waking it for that alone
};

// A request. The owner fills the first group, keeps it and its memory until done, and may use it
// again from inside done.
struct rnic_wr {
	enum rnic_opcode opcode;
	unsigned flags;
	struct rnic_sge *sge; // kept too
	uint32_t nsge;	      // 0 with len 0: a message without payload
	uint32_t rkey;
	uint64_t remote_addr;
	// Once for each request that rnic_post() took, in the order in which those of one queue
	// pair were posted, but reads among themselves and the others among themselves: a read
	// may end after what was posted behind it. res 0: a send or write was taken over by the
	// transport for good, a read's data is in place. -ECANCELED: flushed by the close.
	// Other errors (-EACCES the peer refused rkey or bounds, -EMSGSIZE, -ETIMEDOUT, -EIO)
	// close the connection.
	void (*done)(struct rnic_wr *wr, int res);

	// The provider's.
	struct list link;
	struct rnic_qp *qp;
	uint64_t bytes; // of all pieces
	uint64_t scratch[4];
};

// Posts wr. It leaves at the end of the round at the latest, or with rnic_flush(). Sends and
// writes keep their order; a send behind a write arrives behind the write's data. Requests
// beyond the queue pair's depth, and reads beyond the agreed number, wait in software; a waiting
// read holds up nothing but what is fenced. Over iWARP what the accepting side posts leaves after
// the first message of its peer. On a queue pair that is not established or is closing, done comes
// with -ECANCELED. -EINVAL: too many pieces, a piece outside its mr, or too long: nothing was
// taken, and done is not called.
int rnic_post(struct rnic_qp *qp, struct rnic_wr *wr);
void rnic_flush(struct rnic_qp *qp);

// --- receiving ---

// One message that came in.
struct rnic_rx {
	uint8_t *data;
	uint32_t len;
	uint32_t invalidated_rkey; // of a send with invalidate, else 0
	bool is_invalidated;
	bool is_scarce; // half of all receive buffers that may be are held: do not keep this one
	struct rnic_mr *mr; // covers data: what came may be sent from, or written to disk from
	// The provider's.
	struct list link;
	struct rnic *rnic;
	struct buf *buf;
};

// Sees to it that count more receive buffers are there, for a connection that may be sent as
// many messages at once; rnic_unreserve() takes that back. Memory is bounded by
// rnic_rx_limit(): beyond it connections share what there is, and a peer that sends when none
// is free waits (receiver not ready, or TCP's window). -ENOMEM when there is none at all.
int rnic_reserve(struct rnic *r, uint32_t count);
void rnic_unreserve(struct rnic *r, uint32_t count);
void rnic_rx_limit(struct rnic *r, uint32_t buffers);
// Gives a buffer back that qp_ops->received handed over. Owed for each.
void rnic_rx_put(struct rnic_rx *rx);

// --- connections ---

// What a queue pair calls. All slots are required. Every slot may call every function here;
// rnic_qp_free() from closed only.
struct rnic_qp_ops {
	// The connection stands. private_data is the peer's answer to a connect (len 0: none);
	// on the accepting side it is empty. Nothing was received before.
	void (*established)(struct rnic_qp *qp, const uint8_t *private_data, uint32_t len);
	// A message. The buffer is the callee's until rnic_rx_put().
	void (*received)(struct rnic_qp *qp, struct rnic_rx *rx);
	// The peer refused the connect, with these words; closed follows.
	void (*rejected)(struct rnic_qp *qp, const uint8_t *private_data, uint32_t len);
	// The connection is gone, once; every request is done, every exposure over. e says why:
	// -ECONNRESET the peer went, -ECONNREFUSED, -ETIMEDOUT, -EPROTO the peer broke the
	// protocol, -ENODEV the device was removed ..., or what rnic_close() was given.
	void (*closed)(struct rnic_qp *qp, const struct err *e);
};

struct rnic_qp_options {
	uint32_t send_depth; // requests that are in flight at once, at most; 0: 128
	uint32_t reads_out;  // reads that we want to have in flight; lowered to what peer and
			     // device take, see rnic_qp_reads_out()
	uint32_t reads_in;   // reads by the peer that we answer at once
	const void *private_data;
	uint32_t private_len;
	uint64_t timeout_usec; // of the connect; 0: 10 s
	uint8_t tos;	       // type of service of RoCE and iWARP, 0 default
	uint16_t pkey;	       // partition wanted on InfiniBand, 0: the default one
	bool wants_crc;	       // software iWARP: ask for the FPDU's CRC
};

// The head of a queue pair; the provider's struct begins with it.
struct rnic_qp {
	const struct rnic_qp_ops *ops;
	const struct rnic_provider *provider;
	struct rnic *rnic;
	void *owner; // the caller's
	struct tcp_addr local_addr, peer_addr;
	uint32_t reads_out;			  // agreed: reads we may have in flight
	uint32_t reads_in;			  // agreed: reads of the peer we answer at once
	uint64_t bytes_in, bytes_out, last_rx_ns; // bytes with the carrier's headers or without
	bool is_established, is_closing;
	bool is_lingering; // closing, but what was posted leaves first

	// rnic.c's: requests that wait for room, how many do not.
	struct list waiting_reads, waiting;
	struct list late; // posted or left behind at the close
	uint32_t posted, reads_posted, send_depth;
	struct defer cancel; // of what is late
};

// A connect of a peer that waits for its answer. Gone with rnic_accept() or rnic_reject().
struct rnic_request {
	const struct rnic_provider *provider;
	struct rnic *rnic;
	struct tcp_addr local_addr, peer_addr;
	const char *carrier;	     // "iWARP", "RoCE v2", "InfiniBand"
	const uint8_t *private_data; // until the answer
	uint32_t private_len;
	uint32_t reads_out; // reads that the peer answers at once, so many may we have in flight
	uint32_t reads_in;  // reads that the peer wants to have in flight
};

// What a listener calls.
struct rnic_listener_ops {
	// On the listener's thread: which worker a new connection goes to; NULL refuses it.
	// Absent: the listener's own.
	struct worker *(*assign)(void *arg, const struct tcp_addr *peer);
	// On that worker: a peer wants to connect. Answer with rnic_accept() or rnic_reject(),
	// here or within some seconds. If the peer goes meanwhile, gone is called instead.
	void (*request)(void *arg, struct rnic_request *q);
	// The request is no more; forget it.
	void (*gone)(void *arg, struct rnic_request *q);
	// On that worker: a peer was turned away before there was a request of it to hand out, for
	// this reason. Not for those that go with their listener. May be absent.
	void (*refused)(void *arg, const struct tcp_addr *peer, const struct err *why);
	// On the listener's thread: it hears nothing any more (-ENODEV: its device was removed).
	// Free it, here or later, and listen again when there is a device. May be absent.
	void (*failed)(void *arg, const struct err *e);
};

// The head of a listener; the provider's struct begins with it.
struct rnic_listener {
	const struct rnic_provider *provider;
};

// Listens on addr (port 0: any, see rnic_listener_addr()), on w's thread. arg is for the ops.
// -ENODEV, -EADDRNOTAVAIL: no device has that address now; -EADDRINUSE ...
int rnic_listen(const struct rnic_provider *p, struct rnic_listener **ret, struct worker *w,
		const struct tcp_addr *addr, const struct rnic_listener_ops *ops, void *arg,
		struct err *e);
const struct tcp_addr *rnic_listener_addr(const struct rnic_listener *l);
// Connections go on. Requests that were handed out may still be answered and may still be gone;
// on another worker one may be handed out until it has run what was posted to it before. NULL is
// fine.
void rnic_listener_free(struct rnic_listener *l);

// Accepts: ops->established follows, or closed. On an error the request is rejected and gone.
int rnic_accept(struct rnic_request *q, struct rnic_qp **ret, const struct rnic_qp_options *o,
		const struct rnic_qp_ops *ops, void *owner, struct err *e);
void rnic_reject(struct rnic_request *q, const void *private_data, uint32_t len);

// Begins to connect; established or closed follows. local may be NULL. An error here means that
// no callback comes. The side that connects speaks first: what the accepting one posts before it
// has received something may wait for that (RFC 5044 7.1.3). Until established, qp->rnic need not
// be the device's.
int rnic_connect(const struct rnic_provider *p, struct rnic_qp **ret, struct worker *w,
		 const struct tcp_addr *peer, const struct tcp_addr *local,
		 const struct rnic_qp_options *o, const struct rnic_qp_ops *ops, void *owner,
		 struct err *e);

// Closes: with linger what was posted leaves first (not: reads, and what is fenced by them).
// Requests are flushed, closed follows, possibly in this round. No-op on a closing queue pair, but
// for linger given up.
void rnic_close(struct rnic_qp *qp, bool linger, const struct err *why);
void rnic_qp_free(struct rnic_qp *qp); // closed was called. NULL is fine

// --- devices ---

// A worker's share of a device. It is there for as long as a request, a queue pair (until it is
// freed), a reservation or a registration of rnic_register() is.
struct rnic {
	const struct rnic_provider *provider;
	struct worker *worker;
	struct rnic_limits limits;
	const char *name; // "siw0", "mlx5_0", "iwarp"
};

// A provider. All slots are required, and are what the function of the same name above says.
// post is called with requests that fit: depths were seen to by rnic.c.
struct rnic_provider {
	const char *name; // "iwarp", "verbs"
	// A peer may invalidate what rnic_expose() gave: then the connection goes on, and
	// rnic_conceal() is still owed.
	bool takes_invalidation;
	int (*listen)(struct rnic_listener **ret, struct worker *w, const struct tcp_addr *addr,
		      const struct rnic_listener_ops *ops, void *arg, struct err *e);
	const struct tcp_addr *(*listener_addr)(const struct rnic_listener *l);
	void (*listener_free)(struct rnic_listener *l);
	int (*accept)(struct rnic_request *q, struct rnic_qp **ret, const struct rnic_qp_options *o,
		      const struct rnic_qp_ops *ops, void *owner, struct err *e);
	void (*reject)(struct rnic_request *q, const void *private_data, uint32_t len);
	int (*connect)(struct rnic_qp **ret, struct worker *w, const struct tcp_addr *peer,
		       const struct tcp_addr *local, const struct rnic_qp_options *o,
		       const struct rnic_qp_ops *ops, void *owner, struct err *e);
	void (*close)(struct rnic_qp *qp, bool linger, const struct err *why);
	void (*qp_free)(struct rnic_qp *qp);
	void (*post)(struct rnic_qp *qp, struct rnic_wr *wr);
	void (*flush)(struct rnic_qp *qp);
	int (*reserve)(struct rnic *r, uint32_t count);
	void (*unreserve)(struct rnic *r, uint32_t count);
	void (*rx_limit)(struct rnic *r, uint32_t buffers);
	void (*rx_put)(struct rnic_rx *rx);
	int (*register_mr)(struct rnic *r, struct rnic_mr **ret, void *addr, uint64_t len,
			   unsigned access, struct err *e);
	void (*deregister_mr)(struct rnic_mr *mr);
	struct rnic_mr *(*find)(struct rnic *r, const void *addr, uint64_t len);
	void (*each_mr)(struct rnic *r, bool (*fn)(const struct rnic_mr *mr, void *arg), void *arg);
	int (*expose)(struct rnic_qp *qp, struct rnic_exposed *ret, const struct sg *sg,
		      uint32_t nsg, uint64_t len, unsigned access);
	void (*conceal)(struct rnic_qp *qp, struct rnic_exposed *x);
};

// For providers: the state of a queue pair's head, and what to call when a posted request ends:
// rnic_wr_done() calls done and posts what waited for its place.
void rnic_qp_init(struct rnic_qp *qp, const struct rnic_provider *p, struct rnic *r,
		  const struct rnic_qp_options *o, const struct rnic_qp_ops *ops, void *owner);
void rnic_wr_done(struct rnic_wr *wr, int res);
// Counts a completion with an error in the worker's counters. rnic_wr_done() does so itself for
// whatever is not -ECANCELED; for the others, those of what was to be received.
void rnic_count_error(struct rnic *r);
// Begins a close with linger: what waits in software and may leave is posted as places become free.
// A provider calls it before it ends the reads in flight.
void rnic_qp_linger(struct rnic_qp *qp);
// Ends what waits in software with -ECANCELED; a provider calls it after its own requests and
// before closed.
void rnic_qp_flush_waiting(struct rnic_qp *qp);
