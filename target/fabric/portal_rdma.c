// SPDX-License-Identifier: BSD-2-Clause
// A portal's listener on RDMA devices, retried until it is bound. Control thread.
#include "target/fabric/portal_rdma.h"

#include <errno.h>
#include <string.h>

#include "core/log.h"

#define RETRY_MIN_USEC 2000000u
#define RETRY_MAX_USEC 60000000u

static void set_listens(struct portal_rdma *r, bool listens)
{
	__atomic_store_n(&r->listens, listens, __ATOMIC_RELAXED);
}

bool portal_rdma_listens(const struct portal_rdma *r)
{
	return __atomic_load_n(&r->listens, __ATOMIC_RELAXED);
}

static void try_again_later(struct portal_rdma *r)
{
	r->retry_usec *= 2;
	if (r->retry_usec > RETRY_MAX_USEC)
		r->retry_usec = RETRY_MAX_USEC;
	timer_arm(r->control, &r->retry, r->retry_usec);
}

static int listen_now(struct portal_rdma *r, struct err *e)
{
	struct ib_port port;
	if (!r->ib_ports)
		return rnic_listen(r->provider, &r->listener, r->control, r->addr, r->ops, r->arg,
				   e);
	if (!r->ib_ports(&port, 1))
		return err_set(e, -ENODEV, "no InfiniBand port");
	return rnic_listen_service(r->provider, &r->listener, r->control, tcp_addr_port(r->addr),
				   r->ops, r->arg, e);
}

static void try_now(struct portal_rdma *r)
{
	struct err e = { 0 };
	char text[TCP_ADDR_TEXT];
	tcp_addr_format(r->addr, text);
	if (listen_now(r, &e) < 0) {
		r->listener = NULL;
		if (strcmp(r->why.text, e.text)) // most machines have no device: do not log it
			log_debug("portal %s: no %s: %s", text,
				  r->ib_ports ? "service id" : "RDMA device", e.text);
		r->why = e;
		try_again_later(r);
		return;
	}
	log_info("portal %s: listening on %s", text,
		 r->ib_ports ? "InfiniBand ports, by service id" : "RDMA devices");
	r->why = (struct err){ 0 };
	r->is_lost = false;
	r->retry_usec = RETRY_MIN_USEC;
	set_listens(r, true);
}

static void on_retry(struct timer *t)
{
	struct portal_rdma *r = container_of(t, struct portal_rdma, retry);
	rnic_listener_free(r->listener); // it has failed
	r->listener = NULL;
	r->has_failed = false;
	try_now(r);
}

void portal_rdma_failed(struct portal_rdma *r, const struct err *e)
{
	char text[TCP_ADDR_TEXT];
	log_warn("portal %s: RDMA devices: %s", tcp_addr_format(r->addr, text), e->text);
	r->why = *e;
	r->has_failed = r->is_lost = true;
	set_listens(r, false);
	try_again_later(r);
}

void portal_rdma_start(struct portal_rdma *r, const struct rnic_provider *provider,
		       struct worker *control, const struct tcp_addr *addr,
		       const struct rnic_listener_ops *ops, void *arg)
{
	if (r->is_started)
		return;
	r->provider = provider;
	r->control = control;
	r->addr = addr;
	r->ops = ops;
	r->arg = arg;
	r->listener = NULL;
	r->is_started = true;
	r->has_failed = false;
	r->retry_usec = RETRY_MIN_USEC;
	r->why = (struct err){ 0 };
	timer_init(&r->retry, on_retry);
	try_now(r);
}

static void nothing(void *arg)
{
}

void portal_rdma_stop(struct portal_rdma *r)
{
	if (!r->is_started)
		return;
	r->is_started = false;
	set_listens(r, false);
	timer_cancel(r->control, &r->retry);
	if (!r->listener)
		return;
	rnic_listener_free(r->listener);
	r->listener = NULL;
	// A request being passed to a worker arrives before this message.
	for (unsigned i = 0; i < worker_count(); i++)
		worker_call(worker_at(i), nothing, NULL);
}

const char *portal_rdma_reason(const struct portal_rdma *r)
{
	if (!r->is_started)
		return NULL;
	return r->listener && !r->has_failed ? "" : r->why.text;
}

const char *portal_rdma_lost(const struct portal_rdma *r)
{
	return r->is_started && r->is_lost ? r->why.text : NULL;
}
