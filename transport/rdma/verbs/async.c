// SPDX-License-Identifier: BSD-2-Clause
// Asynchronous events of devices and queue pairs. A device has one stream of such events for all
// workers: each watches it, and the one that reads an event passes it to its owner.
//
// A port that goes down has some seconds to come back: the transport retransmits.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "transport/rdma/verbs/priv.h"

#define PORT_GRACE_USEC 5000000u

static const struct {
	enum ibv_event_type type;
	const char *text;
} qp_events[] = {
	{IBV_EVENT_QP_FATAL,	      "fatal error of the queue pair"	      },
	{ IBV_EVENT_QP_REQ_ERR,	"the peer sent an invalid request"	   },
	{ IBV_EVENT_QP_ACCESS_ERR, "the peer violated memory access rights"},
};

static void fail_all(struct verbs_rnic *r, int code, const char *text)
{
	list_for_each_safe (it, &r->conns) {
		struct verbs_conn *c = list_entry(it, struct verbs_conn, link);
		if (c->state != VERBS_REQUESTED)
			verbs_conn_fail(c, code, "%s: %s", r->head.name, text);
	}
}

// --- queue pairs ---

// On the connection's worker.
static void qp_failed(struct msg *m)
{
	struct verbs_conn *c = container_of(m, struct verbs_conn, msg);

	c->is_msg_posted = false;
	if (c->is_freed)
		free(c);
	else
		verbs_conn_fail(c, -EPROTO, "%s", c->async_text);
}

// The connection exists: destroying its queue pair waits until this event is acknowledged.
static void qp_event(struct verbs_conn *c, const char *text)
{
	if (__atomic_exchange_n(&c->is_msg_posted, true, __ATOMIC_ACQ_REL))
		return;
	c->async_text = text;
	c->msg.fn = qp_failed;
	worker_post(c->vw->worker, &c->msg);
}

void verbs_async_gone(struct verbs_conn *c)
{
	if (__atomic_load_n(&c->is_msg_posted, __ATOMIC_ACQUIRE))
		c->is_freed = true; // its message frees it
	else
		free(c);
}

// --- devices ---

static bool is_port_down(struct verbs_rnic *r)
{
	struct ibv_port_attr port = { 0 };

	return ibv_query_port(r->device->context, 1, &port) || port.state != IBV_PORT_ACTIVE;
}

static void port_late(struct timer *t)
{
	struct verbs_rnic *r = container_of(t, struct verbs_rnic, port_timer);

	if (is_port_down(r))
		fail_all(r, -ENETDOWN, "the port is down");
}

// On r's worker.
static void device_event(struct msg *m)
{
	struct verbs_rnic *r = container_of(m, struct verbs_rnic, port_msg);

	if (!r->device) { // it was removed meanwhile
		free(r);
		return;
	}
	int type = __atomic_load_n(&r->port_event, __ATOMIC_ACQUIRE);
	__atomic_store_n(&r->is_port_msg_posted, false, __ATOMIC_RELEASE);
	if (type == IBV_EVENT_PORT_ERR)
		timer_arm(r->head.worker, &r->port_timer, PORT_GRACE_USEC);
	else
		fail_all(r, -EIO, "the device failed");
}

static void tell_all(struct verbs_device *d, int type)
{
	pthread_mutex_lock(&d->lock);
	list_for_each (it, &d->rnics) {
		struct verbs_rnic *r = list_entry(it, struct verbs_rnic, device_link);
		__atomic_store_n(&r->port_event, type, __ATOMIC_RELEASE);
		if (!__atomic_exchange_n(&r->is_port_msg_posted, true, __ATOMIC_ACQ_REL))
			worker_post(r->head.worker, &r->port_msg);
	}
	pthread_mutex_unlock(&d->lock);
}

static void take_event(struct verbs_rnic *r, const struct ibv_async_event *ev)
{
	for (size_t i = 0; i < sizeof qp_events / sizeof *qp_events; i++)
		if (qp_events[i].type == ev->event_type) {
			qp_event(ev->element.qp->qp_context, qp_events[i].text);
			return;
		}
	switch (ev->event_type) {
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_SRQ_ERR:
		tell_all(r->device, ev->event_type);
		break;
	default: // others are also reported by connection management, or do not matter
		break;
	}
}

static void async_ready(struct watch *wa, uint32_t events)
{
	struct verbs_rnic *r = container_of(wa, struct verbs_rnic, async_watch);
	struct ibv_async_event ev;

	while (ibv_get_async_event(r->device->context, &ev) == 0) {
		take_event(r, &ev);
		ibv_ack_async_event(&ev);
	}
}

int verbs_async_init(struct verbs_rnic *r, struct err *e)
{
	int fd = r->device->context->async_fd;

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	r->async_watch.fn = async_ready;
	timer_init(&r->port_timer, port_late);
	r->port_msg.fn = device_event;
	int n = watch_add(r->head.worker, &r->async_watch, fd, EPOLLIN);
	if (n < 0)
		return err_errno(e, n, "%s: watch events", r->device->name);
	pthread_mutex_lock(&r->device->lock);
	list_push_back(&r->device->rnics, &r->device_link);
	pthread_mutex_unlock(&r->device->lock);
	return 0;
}

void verbs_async_done(struct verbs_rnic *r)
{
	watch_remove(r->head.worker, &r->async_watch);
	if (!list_linked(&r->device_link))
		return;
	timer_cancel(r->head.worker, &r->port_timer);
	pthread_mutex_lock(&r->device->lock);
	list_remove(&r->device_link);
	pthread_mutex_unlock(&r->device->lock);
}
