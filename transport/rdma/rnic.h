// SPDX-License-Identifier: BSD-2-Clause
// The interface between users of RDMA (iSER, SRP) and its providers: a device through
// libibverbs (verbs/) or software iWARP over TCP (iwarp/). RFC 5040, RFC 5041, IBTA 10.
//
// A queue pair and its requests belong to one worker; unless noted otherwise, all functions are
// called on its thread and do not block. All callbacks come from its loop, never from inside a
// function of this header.
//
// A request is a struct rnic_wr, embedded by its owner and kept until done. All queue pairs of a
// worker's device share receive buffers (SRQ).
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
	RNIC_PRIVATE_MAX = 196,	    // most bytes of private data of any message
	RNIC_PRIVATE_REQ_MAX = 56,  // ... of a connect
	RNIC_PRIVATE_REJ_MAX = 148, // ... of a reject
	RNIC_READS_MAX = 128,	    // limit of negotiated reads in flight
};

// What a device can do. Constant.
struct rnic_limits {
	uint32_t max_send_wr;  // work requests in flight of a queue pair
	uint32_t max_sge;      // pieces of a send or write
	uint32_t max_read_sge; // pieces of a read's sink
	uint32_t max_inline;   // bytes of a send that fit into the request itself, which is faster;
			       // keep its memory until done all the same
	uint32_t max_reads_out; // reads in flight that we can request
	uint32_t max_reads_in;	// ... that we can answer
	uint64_t max_message;	// bytes of one send, write or read
	bool needs_remote_sink; // the sink of a read needs remote-write rights (iWARP adapters)
	bool can_invalidate;	// RNIC_SEND_INVALIDATE can be sent
	bool scatters_exposed;	// rnic_expose() takes more than one piece
	bool revokes_exposed;	// rnic_conceal() takes effect at once, only the exposed bytes are
				// accessible, and the peer may invalidate them. Else a peer that
				// knows the key can access the whole registration of the memory
				// until the queue pair is closed
};

// --- memory ---

enum {
	RNIC_REMOTE_READ = 1,
	RNIC_REMOTE_WRITE = 2,
	// For rnic_expose() only: until rnic_conceal() only what the peer writes is preserved; the
	// rest of the memory may change.
	RNIC_SCRATCH = 4,
};

// A registration. Read-only outside the provider.
struct rnic_mr {
	struct rnic *rnic; // of rnic_register(); NULL: for all workers
	uint8_t *addr;
	uint64_t len;
	uint32_t lkey, rkey;
	unsigned access; // RNIC_REMOTE_*; 0: for local use
};

// A piece of memory of a work request. It must lie within mr.
struct rnic_sge {
	uint8_t *addr;
	uint32_t len;
	struct rnic_mr *mr;
};

// Memory that the peer may access until rnic_conceal().
struct rnic_exposed {
	uint32_t rkey;
	uint64_t remote_addr; // origin of the peer's offsets
	// Bytes that the peer has written or requested so far; repeated accesses count again. Valid
	// until rnic_conceal(). NULL: the device does not count.
	const uint64_t *moved;
	void *handle; // private to the provider
};

// Registers memory. Blocks while the kernel pins it. The text of -ENOMEM names the memlock limit
// and its cure.
int rnic_register(struct rnic *r, struct rnic_mr **ret, void *addr, uint64_t len, unsigned access,
		  struct err *e);
void rnic_deregister(struct rnic_mr *mr); // NULL is fine; no request may be using it

// The registration, for local use, that covers len bytes at addr: a buffer of this worker's pool, a
// RAM disk (core/region.h), or memory passed to rnic_register(). NULL: not registered, copy into a
// registered buffer. O(log n), no lock.
struct rnic_mr *rnic_find(struct rnic *r, const void *addr, uint64_t len);

// Lets the peer of qp read or write (access) exactly the len bytes of sg, for one command. The
// list is copied. -EOPNOTSUPP: several pieces on a device that takes one, or memory that was not
// registered for it; -ENOMEM.
int rnic_expose(struct rnic_qp *qp, struct rnic_exposed *ret, const struct sg *sg, uint32_t nsg,
		uint64_t len, unsigned access);
// Ends the exposure: the peer can no longer access the memory (if the device cannot revoke: after
// the response to the command, or the close of the queue pair). Valid also after the peer has
// invalidated it.
void rnic_conceal(struct rnic_qp *qp, struct rnic_exposed *x);

// Calls fn for every current registration of the device, until it returns false. For statistics and
// for the test that a target grants no remote rights. Any thread; takes a lock.
void rnic_each_mr(struct rnic *r, bool (*fn)(const struct rnic_mr *mr, void *arg), void *arg);

// How many registrations of the device a peer may read or write. Any thread; takes a lock.
unsigned rnic_remote_rights(struct rnic *r);

// --- work requests ---

enum rnic_opcode {
	RNIC_SEND,
	RNIC_SEND_INVALIDATE, // ... and invalidates rkey at the peer
	RNIC_WRITE,	      // to remote_addr, rkey
	RNIC_READ,	      // from remote_addr, rkey
};

enum {
	RNIC_SIGNALED = 1,  // done soon; else done may wait for a later signaled request
	RNIC_FENCE = 2,	    // starts when all earlier reads of the queue pair are done
	RNIC_SOLICITED = 4, // wakes the receiver
	RNIC_LAZY = 8,	    // instead of RNIC_SIGNALED: done at the worker's next wake-up, or some
			    // 10 ms later. Saves a separate wake-up
};

// A request. The owner fills the first group, keeps it and its memory until done, and may reuse it
// from inside done.
struct rnic_wr {
	enum rnic_opcode opcode;
	unsigned flags;
	struct rnic_sge *sge; // kept until done, too
	uint32_t nsge;	      // 0 with len 0: a message without payload
	uint32_t rkey;
	uint64_t remote_addr;
	// Called once for each request accepted by rnic_post(). Reads of a queue pair complete in
	// the order in which they were posted, and so do the other requests; but a read may
	// complete after requests posted later. res 0: the transport no longer needs the memory of
	// a send or write, a read's data is in place. -ECANCELED: flushed by the close. Other
	// errors (-EACCES the peer refused rkey or bounds, -EMSGSIZE, -ETIMEDOUT, -EIO) close the
	// connection.
	void (*done)(struct rnic_wr *wr, int res);

	// Private to the provider.
	struct list link;
	struct rnic_qp *qp;
	uint64_t bytes; // of all pieces
	uint64_t scratch[4];
};

// Posts wr. It is sent at the end of the round at the latest, or by rnic_flush(). Sends and writes
// keep their order; a send after a write arrives after the write's data. Requests beyond the queue
// pair's depth, and reads beyond the negotiated number, wait in software; a waiting read delays
// only fenced requests. Over iWARP the accepting side's requests are sent after the first message
// of its peer. On a queue pair that is not established or is closing, done is called with
// -ECANCELED. -EINVAL: too many pieces, a piece outside its mr, or too long; done is not called.
int rnic_post(struct rnic_qp *qp, struct rnic_wr *wr);
void rnic_flush(struct rnic_qp *qp);

// --- receiving ---

// A received message.
struct rnic_rx {
	uint8_t *data;
	uint32_t len;
	uint32_t invalidated_rkey; // of a send with invalidate, else 0
	bool is_invalidated;
	bool is_scarce;	    // half of the receive buffers are held: do not keep this one
	struct rnic_mr *mr; // covers data: it may be sent or written to disk from there
	// Private to the provider.
	struct list link;
	struct rnic *rnic;
	struct buf *buf;
};

// Reserves count more receive buffers, for a connection whose peer may send as many messages at
// once; rnic_unreserve() undoes it. Memory is limited by rnic_rx_limit(): beyond it connections
// share the buffers, and a peer that sends while none is free waits (receiver not ready, or TCP's
// window). -ENOMEM: no buffers at all.
int rnic_reserve(struct rnic *r, uint32_t count);
void rnic_unreserve(struct rnic *r, uint32_t count);
void rnic_rx_limit(struct rnic *r, uint32_t buffers);
// Returns a buffer received by qp_ops->received. Required for each.
void rnic_rx_put(struct rnic_rx *rx);

// --- connections ---

// What a queue pair calls. All slots are required. Every slot may call every function here;
// rnic_qp_free() from closed only.
struct rnic_qp_ops {
	// The connection is established. private_data is that of the peer's answer to a connect
	// (len 0: none); on the accepting side it is empty. Nothing is received before this call.
	void (*established)(struct rnic_qp *qp, const uint8_t *private_data, uint32_t len);
	// A message. The buffer is the callee's until rnic_rx_put().
	void (*received)(struct rnic_qp *qp, struct rnic_rx *rx);
	// The peer refused the connect, with this private data; closed follows.
	void (*rejected)(struct rnic_qp *qp, const uint8_t *private_data, uint32_t len);
	// The connection is closed; called once, when every request is done and every exposure has
	// ended. e: -ECONNRESET the peer closed it, -ECONNREFUSED, -ETIMEDOUT, -EPROTO the peer
	// violated the protocol, -ENODEV the device was removed, -EAGAIN the connect failed and
	// may succeed at once ..., or the reason passed to rnic_close().
	void (*closed)(struct rnic_qp *qp, const struct err *e);
};

struct rnic_qp_options {
	uint32_t send_depth; // limit of requests in flight; 0: 128
	uint32_t reads_out;  // reads that we want in flight; lowered to what peer and device
			     // accept, see rnic_qp_reads_out()
	uint32_t reads_in;   // reads by the peer that we answer concurrently
	const void *private_data;
	uint32_t private_len;
	uint64_t timeout_usec; // of the connect; 0: 10 s
	uint8_t tos;	       // type of service of RoCE and iWARP, 0 default
	uint16_t pkey;	       // partition on InfiniBand, 0: the default one
	bool wants_crc;	       // software iWARP: request the CRC of FPDUs
};

// The head of a queue pair; the provider's struct begins with it.
struct rnic_qp {
	const struct rnic_qp_ops *ops;
	const struct rnic_provider *provider;
	struct rnic *rnic;
	void *owner; // set by the caller
	struct tcp_addr local_addr, peer_addr;
	uint32_t reads_out;			  // negotiated: reads that we may have in flight
	uint32_t reads_in;			  // negotiated: concurrent reads of the peer
	uint64_t bytes_in, bytes_out, last_rx_ns; // bytes, with or without the carrier's headers
	uint64_t last_tx_ns; // when a part of a request last left; 0: the device does not tell
	bool is_established, is_closing;
	bool is_lingering; // closing, after sending what was posted

	// Private to rnic.c: requests that wait for room, the number of those that do not.
	struct list waiting_reads, waiting;
	struct list late; // waiting at the close or posted after it; cancelled
	uint32_t posted, reads_posted, send_depth;
	struct defer cancel; // of late requests
};

// A peer's connect request that waits for an answer. Freed by rnic_accept() or rnic_reject().
struct rnic_request {
	const struct rnic_provider *provider;
	struct rnic *rnic;
	struct tcp_addr local_addr, peer_addr;
	const char *carrier;	     // "iWARP", "RoCE v2", "InfiniBand"
	const uint8_t *private_data; // valid until the answer
	uint32_t private_len;
	uint32_t reads_out; // limit of our reads in flight, set by the peer
	uint32_t reads_in;  // reads that the peer wants to have in flight
	// It came to rnic_listen_service(): the addresses are GIDs, in the form of IPv6 addresses.
	bool is_by_service;
};

// What a listener calls.
struct rnic_listener_ops {
	// On the listener's thread: chooses the worker of a new connection; NULL refuses it.
	// Absent: the listener's worker.
	struct worker *(*assign)(void *arg, const struct tcp_addr *peer);
	// On that worker: a peer wants to connect. Answer with rnic_accept() or rnic_reject(),
	// here or within some seconds. If the peer disconnects meanwhile, gone is called instead.
	void (*request)(void *arg, struct rnic_request *q);
	// The request was freed; forget it.
	void (*gone)(void *arg, struct rnic_request *q);
	// On that worker: a peer was refused, for this reason, before it became a request. Not for
	// peers refused because the listener is freed. May be absent.
	void (*refused)(void *arg, const struct tcp_addr *peer, const struct err *why);
	// On the listener's thread: it has stopped listening (-ENODEV: its device was removed).
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
// Listens on all InfiniBand ports for peers that address a service id of the connection manager
// instead of an IP address. Otherwise as rnic_listen(). -EOPNOTSUPP: not with this provider, or the
// kernel or librdmacm lacks AF_IB.
int rnic_listen_service(const struct rnic_provider *p, struct rnic_listener **ret, struct worker *w,
			uint16_t port, const struct rnic_listener_ops *ops, void *arg,
			struct err *e);
// The service id of a port. Programs can bind no others (RDMA_PS_IB of librdmacm).
uint64_t rnic_service_id(uint16_t port);
// Frees the listener; connections continue. Pending requests may still be answered, and gone may
// still be called. Another worker may still deliver a request until it has processed the messages
// posted to it before. NULL is fine.
void rnic_listener_free(struct rnic_listener *l);

// Accepts: ops->established or closed follows. On an error the request is rejected and freed.
int rnic_accept(struct rnic_request *q, struct rnic_qp **ret, const struct rnic_qp_options *o,
		const struct rnic_qp_ops *ops, void *owner, struct err *e);
void rnic_reject(struct rnic_request *q, const void *private_data, uint32_t len);

// Starts to connect; established or closed follows. local may be NULL. After an error no callback
// follows. The connecting side sends first: requests of the accepting side may wait for its first
// message (RFC 5044 7.1.3). Until established, qp->rnic may be that of another device.
int rnic_connect(const struct rnic_provider *p, struct rnic_qp **ret, struct worker *w,
		 const struct tcp_addr *peer, const struct tcp_addr *local,
		 const struct rnic_qp_options *o, const struct rnic_qp_ops *ops, void *owner,
		 struct err *e);

// Closes; with linger, after sending what was posted (except reads and requests fenced by them).
// Flushes requests; closed follows, possibly in this round. No-op on a closing queue pair, except
// that linger can be given up. With linger, or with why->code 0, the socket of software iWARP
// closes in order; else what the kernel has not sent yet is dropped (stream_set_orderly()).
void rnic_close(struct rnic_qp *qp, bool linger, const struct err *why);
void rnic_qp_free(struct rnic_qp *qp); // after closed. NULL is fine

// --- devices ---

// A worker's share of a device. It exists as long as a request, a queue pair (until it is freed), a
// reservation or a registration of rnic_register().
struct rnic {
	const struct rnic_provider *provider;
	struct worker *worker;
	struct rnic_limits limits;
	const char *name; // "siw0", "mlx5_0", "iwarp"
};

// A provider. All slots are required; each implements the function of the same name above. post
// gets only requests that fit: rnic.c limits their number.
struct rnic_provider {
	const char *name; // "iwarp", "verbs"
	// A peer may invalidate what rnic_expose() exposed: the connection continues, and
	// rnic_conceal() is still required.
	bool takes_invalidation;
	int (*listen)(struct rnic_listener **ret, struct worker *w, const struct tcp_addr *addr,
		      const struct rnic_listener_ops *ops, void *arg, struct err *e);
	int (*listen_service)(struct rnic_listener **ret, struct worker *w, uint16_t port,
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

// For providers: the state of a queue pair's head. When a posted request ends, call rnic_wr_done():
// it calls done and posts what waited for its place.
void rnic_qp_init(struct rnic_qp *qp, const struct rnic_provider *p, struct rnic *r,
		  const struct rnic_qp_options *o, const struct rnic_qp_ops *ops, void *owner);
void rnic_wr_done(struct rnic_wr *wr, int res);
// Counts a completion with an error in the worker's counters: for receives. rnic_wr_done() counts
// errors other than -ECANCELED itself.
void rnic_count_error(struct rnic *r);
// Starts a close with linger: requests that wait in software and may be sent are posted as places
// become free. A provider calls it before it ends the reads in flight.
void rnic_qp_linger(struct rnic_qp *qp);
// Ends the requests that wait in software with -ECANCELED; a provider calls it after its own
// requests and before closed.
void rnic_qp_flush_waiting(struct rnic_qp *qp);
