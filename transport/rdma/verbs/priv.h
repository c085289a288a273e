// SPDX-License-Identifier: BSD-2-Clause
// Private to the verbs provider. By subject: device.c (the shared part of a device),
// memory.c (registrations), worker_rnic.c (a worker's share), rnic_refs.c (who needs it), qpn.c
// (queue pair numbers), cq.c (completion queues), rx.c (receive buffers), channel.c (events of
// connection management), listener.c, service.c (InfiniBand's service ids), conn.c (queue pairs),
// post.c (requests), async.c (asynchronous events), look.c (devices removed without an event),
// status.c (meanings of codes).
//
// A device's context belongs to librdmacm, which opens it for the first cm id that needs it and
// keeps it open while cm ids refer to it.
#pragma once

#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>

#include "core/region.h"
#include "transport/rdma/rnic.h"
#include "transport/rdma/verbs/look.h"
#include "transport/rdma/verbs/mr_table.h"

enum {
	VERBS_SGE_MAX = 16,    // limit of pieces
	VERBS_CHAIN = 32,      // requests posted with one doorbell
	VERBS_BATCH = 32,      // completions polled at once
	VERBS_ROUND = 128,     // completions of a queue in a round, so that others get their turn
	VERBS_RX_BASE = 16,    // receive buffers without reservations
	VERBS_RX_LIMIT = 4096, // ... beyond this, connections share
	VERBS_RX_MAX = 8192,   // ... capacity of the shared receive queue
	VERBS_SEND_WR_MAX = 16384,
	VERBS_CQ_SIZE = 16384,
	VERBS_INLINE_WANTED = 256,
	VERBS_RNR_TIMER = 12, // 0.64 ms until a peer retries (IBTA 9.7.5.2.8)
	VERBS_RNR_RETRY = 7,  // no limit
	VERBS_RETRY = 7,
	VERBS_LAZY_USEC = 10000, // poll interval for requests without RNIC_SIGNALED
};

struct verbs_conn;
struct verbs_listener;
struct verbs_slab;
struct verbs_worker;

// --- a device, shared by all workers (device.c, memory.c) ---

struct verbs_device {
	struct list link;	 // of all; under the lock of device.c
	unsigned refs;		 // "
	struct verbs_open *open; // private to look.c
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct rnic_limits limits;
	const char *name;
	bool is_iwarp;
	bool signals_all; // an unsignaled request may be sent after a later one has completed
	uint64_t mr_max;  // bytes of one registration
	int cqe_max, srq_wr_max;
	bool has_warned; // of memory that could not be registered; under the regions' lock
	bool is_removed; // atomic; reported by an event

	pthread_mutex_t lock; // for the following fields
	struct list mrs;
	struct mr_table table; // read without it
	struct list rnics;
	unsigned exposers; // connections that expose memory
	struct region_watch watch;
};

// The device of a cm id. The first time it blocks while the existing regions are registered.
// -ENODEV: it was removed. Any thread, like all of these.
int verbs_device_get(struct verbs_device **ret, struct rdma_cm_id *id, struct err *e);
struct verbs_device *verbs_device_hold(struct verbs_device *d); // adds a user
void verbs_device_put(struct verbs_device *d);			// NULL is fine
// Checks whether the open devices still exist.
void verbs_devices_look(void);
// Reported by an event or the check. Its context is freed with the last cm id.
bool verbs_device_is_removed(const struct verbs_device *d);
void verbs_device_removed(struct verbs_device *d);

struct verbs_mr {
	struct rnic_mr head;
	struct verbs_device *device;
	struct ibv_mr *mr;
	struct ibv_mr *remote;	     // the same memory for peers; while a connection exposes it
	const struct region *region; // it is of, or NULL
	struct list link;
};

void verbs_memory_init(struct verbs_device *d);
void verbs_memory_done(struct verbs_device *d);
int verbs_register(struct rnic *r, struct rnic_mr **ret, void *addr, uint64_t len, unsigned access,
		   struct err *e);
void verbs_deregister(struct rnic_mr *mr);
struct rnic_mr *verbs_find(struct rnic *r, const void *addr, uint64_t len);
void verbs_each_mr(struct rnic *r, bool (*fn)(const struct rnic_mr *mr, void *arg), void *arg);
int verbs_expose(struct rnic_qp *qp, struct rnic_exposed *ret, const struct sg *sg, uint32_t nsg,
		 uint64_t len, unsigned access);
void verbs_conceal(struct rnic_qp *qp, struct rnic_exposed *x);
void verbs_expose_end(struct verbs_conn *c); // its peer can access nothing any more

// --- a worker's share of a device (worker_rnic.c, cq.c, rx.c) ---

struct verbs_cq {
	struct ibv_cq *cq;
	unsigned size, used; // places, allocated to queue pairs
	struct list link;
};

// Completion queues whose events share one channel.
struct verbs_cqs {
	struct verbs_rnic *r;
	struct list all;
	struct ibv_comp_channel *channel;
	struct watch watch;
	unsigned unacked; // events of the channel
	bool is_armed;
};

struct verbs_rx {
	struct rnic_rx head;
	struct verbs_slab *slab;
};

struct verbs_rnic {
	struct rnic head;
	struct verbs_device *device;
	struct verbs_worker *vw;
	struct list link;	 // of the worker
	struct list device_link; // of the device; under its lock
	unsigned refs;
	struct defer release; // fn: frees it, see rnic_refs.c
	struct list parked;   // cm ids of a removed device that keep its context

	struct verbs_cqs receives, sends; // of the shared receive queue, of the send queues
	struct poller poller;
	unsigned posted, awaited; // requests; those whose completion wakes the worker, and closes
	bool is_overdue;	  // nothing completed for long: any completion wakes it
	struct timer overdue;

	struct watch async_watch;
	struct list conns;
	struct verbs_conn **by_qpn; // open hash, mask + 1 places
	uint32_t mask, qpn_count;
	struct msg port_msg;	 // private to async.c
	bool is_port_msg_posted; // atomic, as is port_event
	int port_event;
	struct timer port_timer;

	struct ibv_srq *srq;
	unsigned srq_size;
	struct list slabs, idle; // receive buffers; the free ones
	unsigned rx_total, rx_posted, rx_handed, rx_reserved, rx_limit;
	struct defer rx_refill;
	struct buf_wait rx_wait;

	struct ibv_send_wr wrs[VERBS_CHAIN];
	struct ibv_sge sges[VERBS_CHAIN * VERBS_SGE_MAX];
};

static inline struct verbs_rnic *verbs_rnic_of(struct rnic *r)
{
	return (struct verbs_rnic *)r;
}

// On the worker's thread, like all below.
int verbs_rnic_get(struct verbs_rnic **ret, struct verbs_worker *vw, struct verbs_device *d,
		   struct err *e);
void verbs_rnics_look(struct verbs_worker *vw); // connections over removed devices end
void verbs_rnic_put(struct verbs_rnic *r);
bool verbs_rnic_is_used(const struct verbs_rnic *r);
// Frees the share at the end of the round if it is no longer needed.
void verbs_rnic_check(struct verbs_rnic *r);

void verbs_cqs_init(struct verbs_rnic *r);
int verbs_cqs_open(struct verbs_rnic *r, struct err *e); // the receive queue exists
void verbs_cqs_done(struct verbs_rnic *r);		 // it is gone
void verbs_rnic_drain(struct verbs_rnic *r);		 // handles all completions
void verbs_look_later(struct verbs_rnic *r);		 // requests were posted
// The completion queue of a queue pair's requests, with room for places of them.
struct verbs_cq *verbs_cq_reserve(struct verbs_rnic *r, unsigned places, struct err *e);

int verbs_qpn_init(struct verbs_rnic *r); // -ENOMEM
void verbs_qpn_done(struct verbs_rnic *r);
int verbs_qpn_add(struct verbs_rnic *r, struct verbs_conn *c);
void verbs_qpn_remove(struct verbs_rnic *r, struct verbs_conn *c);
struct verbs_conn *verbs_qpn_find(const struct verbs_rnic *r, uint32_t qpn);

int verbs_rx_init(struct verbs_rnic *r, struct err *e);
void verbs_rx_done(struct verbs_rnic *r);
int verbs_reserve(struct rnic *r, uint32_t count);
void verbs_unreserve(struct rnic *r, uint32_t count);
void verbs_rx_limit(struct rnic *r, uint32_t buffers);
void verbs_rx_put(struct rnic_rx *rx);
// A completion removed it from the queue: deliver it, or return it with verbs_rx_put().
void verbs_rx_taken(struct verbs_rx *rx);

// --- events of connection management (channel.c) ---

// An event, copied so that it is acknowledged before it is handled: destroying a cm id waits for
// that.
struct verbs_cm_event {
	enum rdma_cm_event_type type;
	int status;
	struct rdma_cm_id *id;
	uint32_t initiator_depth, responder_resources;
	uint32_t private_len;
	uint8_t private_data[256];
};

// What a cm id's context points to.
struct verbs_cm_owner {
	void (*event)(struct verbs_cm_owner *o, const struct verbs_cm_event *ev);
};

// A worker's event channel and devices.
struct verbs_worker {
	struct list link;
	struct worker *worker;
	unsigned refs; // under the lock of channel.c, as is link
	struct rdma_event_channel *channel;
	struct watch watch;
	bool is_watching;
	struct timer look;
	struct list rnics, listeners;
	struct rnic nowhere; // connections whose device is not known yet
};

// The channel of a worker. Any thread; the first time it blocks while librdmacm searches for
// devices. -ENODEV: no devices, or no support for them.
int verbs_worker_get(struct verbs_worker **ret, struct worker *w, struct err *e);
int verbs_worker_enter(struct verbs_worker *vw, struct err *e); // on its thread: watches
void verbs_worker_put(struct verbs_worker *vw);			// on its thread

// --- service ids (service.c) ---

// What it calls of librdmacm: functions of these names with rdma_ before them.
struct verbs_cm_ops {
	int (*create_id)(struct rdma_event_channel *channel, struct rdma_cm_id **ret, void *context,
			 enum rdma_port_space ps);
	int (*bind_addr)(struct rdma_cm_id *id, struct sockaddr *addr);
	int (*listen)(struct rdma_cm_id *id, int backlog);
	int (*destroy_id)(struct rdma_cm_id *id);
};
extern const struct verbs_cm_ops verbs_cm_system;

// Listens on the service id of port, on all InfiniBand ports.
int verbs_service_open(const struct verbs_cm_ops *cm, struct rdma_cm_id **ret,
		       struct rdma_event_channel *channel, void *context, uint16_t port,
		       int backlog, struct err *e);
// A request to a service id.
bool verbs_id_is_service(struct rdma_cm_id *id);
// An address of librdmacm; a GID becomes an IPv6 address, with the port of its service id.
void verbs_addr_read(struct tcp_addr *ret, const struct sockaddr *sa);

// --- listeners and connections (listener.c, conn.c, post.c) ---

int verbs_listen(struct rnic_listener **ret, struct worker *w, const struct tcp_addr *addr,
		 const struct rnic_listener_ops *ops, void *arg, struct err *e);
int verbs_listen_service(struct rnic_listener **ret, struct worker *w, uint16_t port,
			 const struct rnic_listener_ops *ops, void *arg, struct err *e);
const struct tcp_addr *verbs_listener_addr(const struct rnic_listener *l);
void verbs_listener_free(struct rnic_listener *l);
// Those of removed devices fail. On the worker's thread.
void verbs_listeners_look(struct verbs_worker *vw);

enum verbs_state {
	VERBS_HANDED,	 // a request being passed to its worker
	VERBS_REQUESTED, // waiting for the owner's answer
	VERBS_RESOLVING, // address, then route
	VERBS_CONNECTING,
	VERBS_ACCEPTING,
	VERBS_STANDS,
	VERBS_DISCONNECTING, // rdma_disconnect() was called
	VERBS_CLOSED,
};

struct verbs_conn {
	struct rnic_qp qp; // first
	struct verbs_cm_owner cm;
	struct rnic_request request;
	struct rnic_qp_options options;
	struct verbs_worker *vw;
	struct verbs_device *device; // of a request, until there is a rnic
	struct verbs_rnic *r;
	struct rdma_cm_id *id;
	struct verbs_cq *cq;
	unsigned cq_places;
	struct list link; // of the rnic
	enum verbs_state state;
	bool is_passive, is_exposing;
	bool is_peer_gone, is_late; // it reports nothing more; closing took too long
	bool is_mute;		    // iWARP: the peer sends first
	bool is_awaited;	    // its close is counted by the rnic
	bool is_marking;	    // a marker is on the send queue
	struct err why;
	struct timer timer;	   // of connect, then of close
	struct defer flush, end;   // end of the round: posts, and advances a close
	struct list pending;	   // accepted, not posted yet
	struct list reads, others; // posted
	uint32_t unsignaled, signal_every;
	struct list early; // messages received before established

	struct msg msg; // from the listener to the worker; then for async.c
	const struct rnic_listener_ops *listener_ops;
	void *listener_arg;
	struct verbs_listener *listener; // held while passed to the worker
	bool is_msg_posted, is_freed;	 // for async.c; atomic, the worker's
	const char *async_text;

	uint32_t private_len;
	uint8_t private_data[256];
};

static inline struct verbs_conn *verbs_conn_of(struct rnic_qp *qp)
{
	return (struct verbs_conn *)qp;
}

// A connect request at a listener, passed to its worker. The cm id belongs to the connection.
void verbs_conn_requested(struct verbs_listener *l, struct worker *w,
			  const struct rnic_listener_ops *ops, void *arg,
			  const struct verbs_cm_event *ev);
int verbs_accept(struct rnic_request *q, struct rnic_qp **ret, const struct rnic_qp_options *o,
		 const struct rnic_qp_ops *ops, void *owner, struct err *e);
void verbs_reject(struct rnic_request *q, const void *private_data, uint32_t len);
int verbs_connect(struct rnic_qp **ret, struct worker *w, const struct tcp_addr *peer,
		  const struct tcp_addr *local, const struct rnic_qp_options *o,
		  const struct rnic_qp_ops *ops, void *owner, struct err *e);
void verbs_close(struct rnic_qp *qp, bool linger, const struct err *why);
void verbs_qp_free(struct rnic_qp *qp);
// The connection broke.
void verbs_conn_fail(struct verbs_conn *c, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void verbs_conn_removed(struct verbs_conn *c);	// its device was removed
void verbs_conn_progress(struct verbs_conn *c); // requests ended: a close may continue
void verbs_conn_arrived(struct verbs_conn *c, struct verbs_rx *rx);
void verbs_listener_put(struct verbs_listener *l);
bool verbs_listener_is_freed(const struct verbs_listener *l);

int verbs_qp_create(struct verbs_conn *c, struct err *e); // queue pair, places in queues
void verbs_qp_destroy(struct verbs_conn *c);

void verbs_post(struct rnic_qp *qp, struct rnic_wr *wr);
void verbs_flush(struct rnic_qp *qp);
void verbs_mark(struct verbs_conn *c); // makes sure that posted requests complete
void verbs_completed(struct verbs_rnic *r, const struct ibv_wc *wc);
void verbs_cancel(struct verbs_conn *c); // ends all that was posted

// wr_id of a completion: a struct rnic_wr *, or with this bit a struct verbs_rx *, or the marker.
#define VERBS_WR_RX	1ull
#define VERBS_WR_MARKER 2ull

// --- asynchronous events of devices (async.c) ---

int verbs_async_init(struct verbs_rnic *r, struct err *e);
void verbs_async_done(struct verbs_rnic *r);
void verbs_async_gone(struct verbs_conn *c); // its queue pair is destroyed; frees it

// --- meanings of codes (status.c) ---

struct verbs_status {
	int code; // negative errno
	const char *text;
};

struct verbs_status verbs_wc_status(enum ibv_wc_status s);
// The error of an event that ends a connection; code 0 for other events.
struct verbs_status verbs_cm_status(enum rdma_cm_event_type type, int status);
// The text of an InfiniBand CM reject reason (IBTA 12.6.7.2), or NULL.
const char *verbs_reject_reason(int status);
// Fills e for a failed registration: memlock and its cure.
int verbs_register_error(struct err *e, int error, const char *device, uint64_t len);
