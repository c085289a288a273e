// SPDX-License-Identifier: BSD-2-Clause
// Listeners, on the thread that created them: a connect request is passed to its worker, cm id
// included. Creating one blocks for system calls, and for the registration of all regions if it is
// the first to use its device.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/rdma/verbs/priv.h"

#define BACKLOG 256

struct verbs_listener {
	struct rnic_listener head; // first
	struct verbs_cm_owner cm;
	struct list link; // of vw
	struct worker *worker;
	struct verbs_worker *vw;
	struct verbs_device *device; // for the address of a device
	struct rdma_cm_id *id;
	struct tcp_addr addr;
	const struct rnic_listener_ops *ops;
	void *arg;
	unsigned refs; // requests being passed to their worker; atomic
	bool is_freed; // atomic
	bool has_failed;
};

bool verbs_listener_is_freed(const struct verbs_listener *l)
{
	return __atomic_load_n(&l->is_freed, __ATOMIC_ACQUIRE);
}

void verbs_listener_put(struct verbs_listener *l)
{
	if (__atomic_sub_fetch(&l->refs, 1, __ATOMIC_ACQ_REL) == 0)
		free(l);
}

static void close_id(struct verbs_listener *l)
{
	verbs_device_put(l->device);
	l->device = NULL;
	if (l->id)
		rdma_destroy_id(l->id);
	l->id = NULL;
}

static void listener_fail(struct verbs_listener *l, struct verbs_status s)
{
	char text[TCP_ADDR_TEXT];
	struct err e;

	if (l->has_failed)
		return;
	l->has_failed = true;
	close_id(l);
	err_set(&e, s.code, "%s: listen: %s", tcp_addr_format(&l->addr, text), s.text);
	if (l->ops->failed)
		l->ops->failed(l->arg, &e);
}

static struct verbs_listener *find_removed(const struct verbs_worker *vw)
{
	list_for_each (it, &vw->listeners) {
		struct verbs_listener *l = list_entry(it, struct verbs_listener, link);
		if (l->device && verbs_device_is_removed(l->device))
			return l;
	}
	return NULL;
}

// Each may free itself, or another.
void verbs_listeners_look(struct verbs_worker *vw)
{
	struct verbs_listener *l;

	while ((l = find_removed(vw)))
		listener_fail(l, verbs_cm_status(RDMA_CM_EVENT_DEVICE_REMOVAL, 0));
}

static void requested(struct verbs_listener *l, const struct verbs_cm_event *ev)
{
	struct tcp_addr peer;
	struct worker *w = l->worker;

	verbs_addr_read(&peer, rdma_get_peer_addr(ev->id));
	if (l->ops->assign)
		w = l->ops->assign(l->arg, &peer);
	if (!w || !l->ops->request) {
		rdma_reject(ev->id, NULL, 0);
		rdma_destroy_id(ev->id);
		return;
	}
	__atomic_add_fetch(&l->refs, 1, __ATOMIC_RELAXED);
	verbs_conn_requested(l, w, l->ops, l->arg, ev);
}

static void listener_event(struct verbs_cm_owner *o, const struct verbs_cm_event *ev)
{
	struct verbs_listener *l = container_of(o, struct verbs_listener, cm);

	if (ev->type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		requested(l, ev);
		return;
	}
	struct verbs_status s = verbs_cm_status(ev->type, ev->status);
	if (s.code)
		listener_fail(l, s);
}

// What librdmacm returns for an address that no device has.
static int bind_error(struct err *e, const struct tcp_addr *addr, int error)
{
	char text[TCP_ADDR_TEXT];

	tcp_addr_format(addr, text);
	if (error == ENODEV || error == EADDRNOTAVAIL || error == ENXIO || error == ENOENT)
		return err_set(e, -ENODEV, "%s: listen: no RDMA device has this address", text);
	if (error == EADDRINUSE)
		return err_set(e, -EADDRINUSE, "%s: listen: the port is in use", text);
	return err_errno(e, -error, "%s: listen", text);
}

static int open_address(struct verbs_listener *l, struct err *e)
{
	int one = 1, r;

	if (rdma_create_id(l->vw->channel, &l->id, &l->cm, RDMA_PS_TCP) < 0)
		return bind_error(e, &l->addr, errno);
	// So that 0.0.0.0 and [::] can be used together.
	if (l->addr.sa.sa_family == AF_INET6)
		rdma_set_option(l->id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &one, sizeof one);
	if (rdma_bind_addr(l->id, &l->addr.sa) < 0)
		return bind_error(e, &l->addr, errno);
	if (l->id->verbs && (r = verbs_device_get(&l->device, l->id, e)) < 0)
		return err_prefix(e, "listen"), r;
	if (rdma_listen(l->id, BACKLOG) < 0)
		return bind_error(e, &l->addr, errno);
	tcp_addr_set_port(&l->addr, ntohs(rdma_get_src_port(l->id)));
	return 0;
}

static int open_service(struct verbs_listener *l, struct err *e)
{
	return verbs_service_open(&verbs_cm_system, &l->id, l->vw->channel, &l->cm,
				  tcp_addr_port(&l->addr), BACKLOG, e);
}

static int listener_open(struct verbs_listener *l,
			 int (*open)(struct verbs_listener *l, struct err *e), struct err *e)
{
	int r = verbs_worker_get(&l->vw, l->worker, e);

	if (r == 0)
		r = verbs_worker_enter(l->vw, e);
	if (r == 0)
		r = open(l, e);
	if (r == 0)
		list_push_back(&l->vw->listeners, &l->link);
	return r;
}

static struct verbs_listener *listener_new(struct worker *w, const struct tcp_addr *addr,
					   const struct rnic_listener_ops *ops, void *arg,
					   struct err *e)
{
	struct verbs_listener *l = calloc(1, sizeof *l);

	if (!l) {
		err_set(e, -ENOMEM, "listen: out of memory");
		return NULL;
	}
	l->head.provider = &rnic_verbs;
	l->cm.event = listener_event;
	l->worker = w;
	l->addr = *addr;
	l->ops = ops;
	l->arg = arg;
	l->refs = 1;
	return l;
}

static int listen_by(struct rnic_listener **ret, struct verbs_listener *l,
		     int (*open)(struct verbs_listener *l, struct err *e), struct err *e)
{
	int r = l ? listener_open(l, open, e) : -ENOMEM;

	if (r == 0)
		*ret = &l->head;
	else if (l)
		verbs_listener_free(&l->head);
	return r;
}

int verbs_listen(struct rnic_listener **ret, struct worker *w, const struct tcp_addr *addr,
		 const struct rnic_listener_ops *ops, void *arg, struct err *e)
{
	return listen_by(ret, listener_new(w, addr, ops, arg, e), open_address, e);
}

int verbs_listen_service(struct rnic_listener **ret, struct worker *w, uint16_t port,
			 const struct rnic_listener_ops *ops, void *arg, struct err *e)
{
	struct tcp_addr any = { .in6 = { .sin6_family = AF_INET6 } };

	tcp_addr_set_port(&any, port);
	return listen_by(ret, listener_new(w, &any, ops, arg, e), open_service, e);
}

const struct tcp_addr *verbs_listener_addr(const struct rnic_listener *l)
{
	return &((const struct verbs_listener *)l)->addr;
}

void verbs_listener_free(struct rnic_listener *head)
{
	struct verbs_listener *l = (struct verbs_listener *)head;

	list_remove(&l->link);
	close_id(l);
	if (l->vw)
		verbs_worker_put(l->vw);
	__atomic_store_n(&l->is_freed, true, __ATOMIC_RELEASE);
	verbs_listener_put(l);
}
