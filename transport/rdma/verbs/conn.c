// SPDX-License-Identifier: BSD-2-Clause
// Connections, on their worker's thread: from a request or connect to closed.
//
// A close takes these steps, driven by end_run(): pending sends leave; rdma_disconnect();
// the requests are flushed and the peer's answer arrives; the queue pair is destroyed, after which
// no memory is accessed; closed. Creating and destroying queue pairs and cm ids blocks for some
// system calls each (some 100 us on an adapter).
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/rdma/verbs/priv.h"

#define CONNECT_USEC 10000000u
#define CLOSE_USEC   5000000u // time limit of linger and flush

static void end_run(struct defer *d);
static void timer_run(struct timer *t);
static void conn_event(struct verbs_cm_owner *o, const struct verbs_cm_event *ev);

static struct verbs_conn *conn_new(void)
{
	struct verbs_conn *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->cm.event = conn_event;
	c->qp.provider = &rnic_verbs;
	timer_init(&c->timer, timer_run);
	list_init(&c->pending);
	list_init(&c->reads);
	list_init(&c->others);
	list_init(&c->early);
	return c;
}

// The cm id of a removed device keeps the device's context, so it is destroyed last.
static void conn_free(struct verbs_conn *c)
{
	struct verbs_rnic *r = c->r;

	if (c->vw->worker == worker_self())
		timer_cancel(c->vw->worker, &c->timer);
	worker_defer_cancel(&c->flush);
	worker_defer_cancel(&c->end);
	list_remove(&c->link);
	if (r && verbs_device_is_removed(r->device)) {
		list_push_back(&r->parked, &c->link);
		verbs_rnic_put(r);
		return;
	}
	if (r)
		verbs_rnic_put(r);
	verbs_device_put(c->device);
	if (c->id)
		rdma_destroy_id(c->id);
	verbs_worker_put(c->vw);
	verbs_async_gone(c);
}

void verbs_qp_free(struct rnic_qp *qp)
{
	conn_free(verbs_conn_of(qp));
}

// --- closing ---

static void finish(struct verbs_conn *c)
{
	timer_cancel(c->vw->worker, &c->timer);
	c->state = VERBS_CLOSED;
	c->qp.is_lingering = false;
	if (c->is_awaited)
		c->r->awaited--;
	if (c->id && c->id->qp)
		verbs_qp_destroy(c);
	while (!list_empty(&c->early))
		verbs_rx_put(list_entry(list_pop_front(&c->early), struct rnic_rx, link));
	verbs_cancel(c);
	rnic_qp_flush_waiting(&c->qp);
	verbs_expose_end(c);
	c->qp.ops->closed(&c->qp, &c->why);
}

static bool has_requests(const struct verbs_conn *c)
{
	return !list_empty(&c->others) || !list_empty(&c->reads);
}

static bool still_lingers(struct verbs_conn *c)
{
	if (!c->qp.is_lingering || c->is_peer_gone || c->is_late)
		return false;
	verbs_flush(&c->qp);
	verbs_mark(c);
	return !list_empty(&c->others) || !list_empty(&c->pending) || !list_empty(&c->qp.waiting);
}

static void end_run(struct defer *d)
{
	struct verbs_conn *c = container_of(d, struct verbs_conn, end);
	bool has_qp = c->id && c->id->qp;

	if (c->state == VERBS_CLOSED || still_lingers(c))
		return;
	c->qp.is_lingering = false;
	if (has_qp && (c->state == VERBS_STANDS || c->state == VERBS_ACCEPTING)) {
		c->state = VERBS_DISCONNECTING;
		if (rdma_disconnect(c->id) < 0)
			c->is_peer_gone = true; // it was never established: no peer to answer
	}
	if (c->state == VERBS_DISCONNECTING && !c->is_late && (has_requests(c) || !c->is_peer_gone))
		return;
	finish(c);
}

void verbs_conn_progress(struct verbs_conn *c)
{
	if (c->qp.is_closing)
		worker_defer(c->vw->worker, &c->end, end_run);
}

static void begin_close(struct verbs_conn *c, bool linger)
{
	// Over iWARP nothing may be sent before the peer's first message.
	if (linger && c->state == VERBS_STANDS && !c->is_mute && !c->is_peer_gone)
		rnic_qp_linger(&c->qp);
	c->qp.is_closing = true;
	c->is_awaited = c->r != NULL;
	if (c->r)
		c->r->awaited++;
	timer_arm(c->vw->worker, &c->timer, CLOSE_USEC);
	verbs_conn_progress(c);
}

void verbs_close(struct rnic_qp *qp, bool linger, const struct err *why)
{
	struct verbs_conn *c = verbs_conn_of(qp);

	if (!qp->is_closing) {
		c->why = *why;
		begin_close(c, linger);
	} else if (!linger && qp->is_lingering) {
		qp->is_lingering = false;
		verbs_conn_progress(c);
	}
}

void verbs_conn_fail(struct verbs_conn *c, int code, const char *fmt, ...)
{
	char text[TCP_ADDR_TEXT];
	va_list args;

	if (c->state == VERBS_CLOSED)
		return;
	if (c->qp.is_closing) {
		c->qp.is_lingering = false;
		verbs_conn_progress(c);
		return;
	}
	va_start(args, fmt);
	vsnprintf(c->why.text, sizeof c->why.text, fmt, args);
	va_end(args);
	c->why.code = code;
	err_prefix(&c->why, "%s", tcp_addr_format(&c->qp.peer_addr, text));
	begin_close(c, false);
}

static void timer_run(struct timer *t)
{
	struct verbs_conn *c = container_of(t, struct verbs_conn, timer);

	if (c->qp.is_closing) {
		c->is_late = true;
		verbs_conn_progress(c);
	} else {
		verbs_conn_fail(c, -ETIMEDOUT, "connect: timeout");
	}
}

// --- accepting and connecting ---

static void note_addresses(struct verbs_conn *c, struct tcp_addr *local, struct tcp_addr *peer)
{
	verbs_addr_read(local, rdma_get_local_addr(c->id));
	verbs_addr_read(peer, rdma_get_peer_addr(c->id));
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

// The partition is that of the address's interface: it can only be checked.
static int check_pkey(const struct verbs_conn *c, struct err *e)
{
	uint16_t is = ntohs(c->id->route.addr.addr.ibaddr.pkey);

	if (!c->options.pkey || c->r->device->is_iwarp || !((is ^ c->options.pkey) & 0x7fff))
		return 0;
	if (verbs_id_is_service(c->id))
		return err_set(e, -EADDRNOTAVAIL,
			       "the path is in partition %#x, not %#x (use that pkey)", is,
			       c->options.pkey);
	return err_set(e, -EADDRNOTAVAIL,
		       "the address is in partition %#x, not %#x (use an address of an interface "
		       "in that partition)",
		       is, c->options.pkey);
}

static struct rdma_conn_param conn_param(const struct verbs_conn *c)
{
	return (struct rdma_conn_param){
		.private_data = c->options.private_data,
		.private_data_len = (uint8_t)c->options.private_len,
		.responder_resources = (uint8_t)c->qp.reads_in,
		.initiator_depth = (uint8_t)c->qp.reads_out,
		.flow_control = 1,
		.retry_count = VERBS_RETRY,
		.rnr_retry_count = VERBS_RNR_RETRY,
	};
}

// How long a peer waits after it found the receive queue empty (RNR timer): default 655 ms.
static void set_rnr_timer(struct verbs_conn *c)
{
	struct ibv_qp_attr a = { .min_rnr_timer = VERBS_RNR_TIMER };

	if (!c->r->device->is_iwarp)
		ibv_modify_qp(c->id->qp, &a, IBV_QP_MIN_RNR_TIMER);
}

static void set_tos(struct verbs_conn *c)
{
	uint8_t tos = c->options.tos;

	if (tos)
		rdma_set_option(c->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof tos);
}

static void established(struct verbs_conn *c, const struct verbs_cm_event *ev)
{
	if (c->qp.is_closing || c->state == VERBS_STANDS)
		return;
	timer_cancel(c->vw->worker, &c->timer);
	c->state = VERBS_STANDS;
	c->qp.is_established = true;
	if (!c->is_passive) {
		c->qp.reads_out = least(c->qp.reads_out, ev->initiator_depth);
		set_rnr_timer(c);
		c->qp.ops->established(&c->qp, ev->private_data, ev->private_len);
	} else {
		c->qp.ops->established(&c->qp, NULL, 0);
	}
	while (!list_empty(&c->early)) {
		struct rnic_rx *rx = list_entry(list_pop_front(&c->early), struct rnic_rx, link);
		if (c->qp.is_closing)
			verbs_rx_put(rx);
		else
			c->qp.ops->received(&c->qp, rx);
	}
}

// A message may arrive before the event that the connection is established.
void verbs_conn_arrived(struct verbs_conn *c, struct verbs_rx *rx)
{
	c->qp.bytes_in += rx->head.len;
	c->qp.last_rx_ns = worker_now(c->vw->worker);
	if (c->is_mute) {
		c->is_mute = false;
		verbs_flush(&c->qp);
	}
	if (c->state != VERBS_STANDS) {
		list_push_back(&c->early, &rx->head.link);
		rdma_notify(c->id, IBV_EVENT_COMM_EST);
		return;
	}
	c->qp.ops->received(&c->qp, &rx->head);
}

// --- accepting ---

static const char *carrier_of(const struct verbs_conn *c)
{
	struct ibv_port_attr port = { 0 };

	if (c->r->device->is_iwarp)
		return "iWARP";
	if (ibv_query_port(c->id->verbs, c->id->port_num, &port) == 0 &&
	    port.link_layer == IBV_LINK_LAYER_ETHERNET)
		return "RoCE";
	return "InfiniBand";
}

static void refuse(struct verbs_conn *c)
{
	rdma_reject(c->id, NULL, 0);
	conn_free(c);
}

// On the worker.
static void request_come(struct msg *m)
{
	struct verbs_conn *c = container_of(m, struct verbs_conn, msg);
	struct verbs_listener *l = c->listener;
	const struct rnic_listener_ops *ops = c->listener_ops;
	bool is_freed = verbs_listener_is_freed(l);
	struct err e;
	int r = verbs_worker_enter(c->vw, &e);

	c->listener = NULL;
	verbs_listener_put(l);
	if (r == 0 && !c->device) {
		e = c->why;
		r = e.code;
	}
	if (r == 0)
		r = verbs_rnic_get(&c->r, c->vw, c->device, &e);
	verbs_device_put(c->device); // now the rnic holds it
	c->device = NULL;
	if (r < 0 && !is_freed && ops->refused)
		ops->refused(c->listener_arg, &c->request.peer_addr, &e);
	if (r < 0 || is_freed || c->is_peer_gone) {
		refuse(c);
		return;
	}
	c->state = VERBS_REQUESTED;
	list_push_back(&c->r->conns, &c->link);
	c->request.rnic = &c->r->head;
	c->request.carrier = carrier_of(c);
	c->listener_ops->request(c->listener_arg, &c->request);
}

// On the listener's thread. After the migration the id's events arrive on the worker's.
void verbs_conn_requested(struct verbs_listener *l, struct worker *w,
			  const struct rnic_listener_ops *ops, void *arg,
			  const struct verbs_cm_event *ev)
{
	struct verbs_conn *c = conn_new();
	struct rnic_request *q = &c->request;

	if (!c || verbs_worker_get(&c->vw, w, NULL) < 0) {
		free(c);
		verbs_listener_put(l);
		rdma_reject(ev->id, NULL, 0);
		rdma_destroy_id(ev->id);
		return;
	}
	c->id = ev->id;
	c->id->context = &c->cm;
	c->listener = l;
	c->listener_ops = ops;
	c->listener_arg = arg;
	c->is_passive = true;
	c->private_len = ev->private_len;
	memcpy(c->private_data, ev->private_data, ev->private_len);
	*q = (struct rnic_request){ .provider = &rnic_verbs,
				    .private_data = c->private_data,
				    .private_len = c->private_len,
				    .reads_out = ev->initiator_depth,
				    .reads_in = ev->responder_resources,
				    .is_by_service = verbs_id_is_service(c->id) };
	note_addresses(c, &q->local_addr, &q->peer_addr);
	c->msg.fn = request_come;
	// If the device cannot be used, the worker reports why.
	if (verbs_device_get(&c->device, c->id, &c->why) < 0 ||
	    (c->id->channel != c->vw->channel && rdma_migrate_id(c->id, c->vw->channel) < 0))
		c->is_peer_gone = true; // as good as
	if (w == worker_self())
		request_come(&c->msg);
	else
		worker_post(w, &c->msg);
}

static int accept_it(struct verbs_conn *c, struct err *e)
{
	int r = check_pkey(c, e);

	if (r == 0)
		r = verbs_qp_create(c, e);
	if (r < 0)
		return r;
	set_tos(c);
	struct rdma_conn_param p = conn_param(c);
	if (rdma_accept(c->id, &p) < 0)
		return err_errno(e, -errno, "accept");
	set_rnr_timer(c);
	return 0;
}

int verbs_accept(struct rnic_request *q, struct rnic_qp **ret, const struct rnic_qp_options *o,
		 const struct rnic_qp_ops *ops, void *owner, struct err *e)
{
	struct verbs_conn *c = container_of(q, struct verbs_conn, request);
	const struct rnic_limits *l = &c->r->head.limits;
	char text[TCP_ADDR_TEXT];

	c->options = *o;
	c->qp.local_addr = q->local_addr;
	c->qp.peer_addr = q->peer_addr;
	rnic_qp_init(&c->qp, &rnic_verbs, &c->r->head, o, ops, owner);
	c->qp.reads_out = least(o->reads_out, least(l->max_reads_out, q->reads_out));
	c->qp.reads_in = least(o->reads_in, least(l->max_reads_in, q->reads_in));
	c->is_mute = c->r->device->is_iwarp;
	int r = accept_it(c, e);
	if (r < 0) {
		err_prefix(e, "%s", tcp_addr_format(&q->peer_addr, text));
		if (c->id->qp)
			verbs_qp_destroy(c);
		refuse(c);
		return r;
	}
	c->options.private_data = NULL; // set by the caller
	c->state = VERBS_ACCEPTING;
	*ret = &c->qp;
	return 0;
}

void verbs_reject(struct rnic_request *q, const void *private_data, uint32_t len)
{
	struct verbs_conn *c = container_of(q, struct verbs_conn, request);

	rdma_reject(c->id, private_data, (uint8_t)least(len, RNIC_PRIVATE_REJ_MAX));
	conn_free(c);
}

// --- connecting ---

static uint64_t connect_usec(const struct verbs_conn *c)
{
	return c->options.timeout_usec ? c->options.timeout_usec : CONNECT_USEC;
}

static int connect_milliseconds(const struct verbs_conn *c)
{
	uint64_t n = connect_usec(c) / 1000 + 1;

	return n < 600000 ? (int)n : 600000;
}

int verbs_connect(struct rnic_qp **ret, struct worker *w, const struct tcp_addr *peer,
		  const struct tcp_addr *local, const struct rnic_qp_options *o,
		  const struct rnic_qp_ops *ops, void *owner, struct err *e)
{
	struct verbs_conn *c = conn_new();
	struct tcp_addr to = *peer, from = local ? *local : (struct tcp_addr){ 0 };
	char text[TCP_ADDR_TEXT];

	if (!c)
		return err_set(e, -ENOMEM, "connect: out of memory");
	if (o->private_len > RNIC_PRIVATE_REQ_MAX) {
		free(c);
		return err_set(e, -EMSGSIZE,
			       "connect: %u bytes of private data exceed the limit of %u",
			       o->private_len, RNIC_PRIVATE_REQ_MAX);
	}
	int r = verbs_worker_get(&c->vw, w, e);
	if (r < 0) {
		free(c);
		return r;
	}
	c->options = *o;
	c->private_len = o->private_len;
	if (o->private_len)
		memcpy(c->private_data, o->private_data, o->private_len);
	c->options.private_data = c->private_data;
	rnic_qp_init(&c->qp, &rnic_verbs, &c->vw->nowhere, o, ops, owner);
	c->qp.peer_addr = *peer;
	r = verbs_worker_enter(c->vw, e);
	if (r == 0 && rdma_create_id(c->vw->channel, &c->id, &c->cm, RDMA_PS_TCP) < 0)
		r = err_errno(e, -errno, "%s: connect", tcp_addr_format(peer, text));
	if (r == 0) {
		set_tos(c);
		c->state = VERBS_RESOLVING;
		if (rdma_resolve_addr(c->id, local ? &from.sa : NULL, &to.sa,
				      connect_milliseconds(c)) < 0)
			r = err_errno(e, -errno, "%s: connect", tcp_addr_format(peer, text));
	}
	if (r < 0) {
		conn_free(c);
		return r;
	}
	timer_arm(w, &c->timer, connect_usec(c));
	*ret = &c->qp;
	return 0;
}

static void address_known(struct verbs_conn *c, const struct verbs_cm_event *ev)
{
	const struct rnic_limits *l;
	struct verbs_device *d;
	struct err e;

	if (c->qp.is_closing)
		return;
	int r = verbs_device_get(&d, c->id, &e);
	if (r == 0) {
		r = verbs_rnic_get(&c->r, c->vw, d, &e);
		verbs_device_put(d);
	}
	if (r < 0) {
		verbs_conn_fail(c, r, "connect: %s", e.text);
		return;
	}
	l = &c->r->head.limits;
	list_push_back(&c->r->conns, &c->link);
	c->qp.rnic = &c->r->head;
	c->qp.send_depth = least(c->qp.send_depth, l->max_send_wr);
	c->qp.reads_out = least(c->options.reads_out, l->max_reads_out);
	c->qp.reads_in = least(c->options.reads_in, l->max_reads_in);
	if (rdma_resolve_route(c->id, connect_milliseconds(c)) < 0)
		verbs_conn_fail(c, -errno, "connect: route: %s", strerror(errno));
}

static void route_known(struct verbs_conn *c, const struct verbs_cm_event *ev)
{
	struct err e;

	if (c->qp.is_closing)
		return;
	note_addresses(c, &c->qp.local_addr, &c->qp.peer_addr);
	int r = check_pkey(c, &e);
	if (r == 0)
		r = verbs_qp_create(c, &e);
	if (r < 0) {
		verbs_conn_fail(c, r, "connect: %s", e.text);
		return;
	}
	struct rdma_conn_param p = conn_param(c);
	c->state = VERBS_CONNECTING;
	if (rdma_connect(c->id, &p) < 0)
		verbs_conn_fail(c, -errno, "connect: %s", strerror(errno));
}

// --- events ---

static void rejected(struct verbs_conn *c, const struct verbs_cm_event *ev)
{
	const char *reason = verbs_reject_reason(ev->status);

	if (c->qp.is_closing)
		return;
	if (ev->private_len)
		c->qp.ops->rejected(&c->qp, ev->private_data, ev->private_len);
	verbs_conn_fail(c, -ECONNREFUSED, "connect: refused%s%s", reason ? ": " : "",
			reason ? reason : "");
}

static void request_gone(struct verbs_conn *c)
{
	c->listener_ops->gone(c->listener_arg, &c->request);
	conn_free(c);
}

// Linux's siw reports EINVAL for whatever is wrong with an MPA reply. Now and then that is a first
// message of the peer which came before the reply was read: LIO's SRP target sends it without
// waiting for the initiator's.
static bool reply_refused(const struct verbs_conn *c, const struct verbs_cm_event *ev)
{
	return c->r && c->r->device->is_iwarp && c->state == VERBS_CONNECTING &&
	       ev->type == RDMA_CM_EVENT_CONNECT_ERROR && ev->status == -EINVAL;
}

// Messages received before the end are handled before it.
static void ended(struct verbs_conn *c, const struct verbs_cm_event *ev)
{
	struct verbs_status s = verbs_cm_status(ev->type, ev->status);

	if (ev->type == RDMA_CM_EVENT_DEVICE_REMOVAL && c->r) {
		verbs_device_removed(c->r->device);
		c->is_late = true;
	}
	if (c->state == VERBS_REQUESTED) {
		request_gone(c);
		return;
	}
	if (ev->type != RDMA_CM_EVENT_ADDR_CHANGE)
		c->is_peer_gone = true;
	if (c->r && c->state == VERBS_STANDS && ev->type == RDMA_CM_EVENT_DISCONNECTED)
		verbs_rnic_drain(c->r);
	if (reply_refused(c, ev))
		verbs_conn_fail(c, -EAGAIN, "%s: the device refused the peer's reply", s.text);
	else if (s.code == ev->status)
		verbs_conn_fail(c, s.code, "%s: %s", s.text, strerror(-s.code));
	else
		verbs_conn_fail(c, s.code, "%s", s.text);
}

void verbs_conn_removed(struct verbs_conn *c)
{
	static const struct verbs_cm_event ev = { .type = RDMA_CM_EVENT_DEVICE_REMOVAL };

	if (c->state != VERBS_CLOSED)
		ended(c, &ev);
}

static void conn_event(struct verbs_cm_owner *o, const struct verbs_cm_event *ev)
{
	static const struct {
		enum rdma_cm_event_type type;
		void (*fn)(struct verbs_conn *c, const struct verbs_cm_event *ev);
	} rows[] = {
		{RDMA_CM_EVENT_ADDR_RESOLVED,   address_known},
		{ RDMA_CM_EVENT_ROUTE_RESOLVED, route_known  },
		{ RDMA_CM_EVENT_ESTABLISHED,    established	 },
	};
	struct verbs_conn *c = container_of(o, struct verbs_conn, cm);
	bool is_end = verbs_cm_status(ev->type, ev->status).code;

	if (c->state == VERBS_CLOSED)
		return;
	if (c->state == VERBS_HANDED) {
		c->is_peer_gone |= is_end; // its message is in the worker's mailbox
		return;
	}
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].type == ev->type)
			rows[i].fn(c, ev);
	if (ev->type == RDMA_CM_EVENT_REJECTED && c->state == VERBS_CONNECTING)
		rejected(c, ev);
	else if (is_end)
		ended(c, ev);
}
