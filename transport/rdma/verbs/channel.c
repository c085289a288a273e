// SPDX-License-Identifier: BSD-2-Clause
// Event channels of librdmacm, one per worker, read on its thread. Events are copied and
// acknowledged before they are handled. Fetching one blocks for some system calls: librdmacm moves
// the queue pair of an answered connect to its next states meanwhile.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "transport/rdma/verbs/priv.h"

static pthread_mutex_t workers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct list workers = { &workers, &workers };

static void copy_event(struct verbs_cm_event *to, const struct rdma_cm_event *ev)
{
	const struct rdma_conn_param *p = &ev->param.conn;

	*to = (struct verbs_cm_event){ .type = ev->event, .status = ev->status, .id = ev->id };
	switch (ev->event) { // events with parameters
	case RDMA_CM_EVENT_CONNECT_REQUEST:
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_REJECTED:
		to->initiator_depth = p->initiator_depth;
		to->responder_resources = p->responder_resources;
		to->private_len = p->private_data ? p->private_data_len : 0;
		if (to->private_len)
			memcpy(to->private_data, p->private_data, to->private_len);
		break;
	default:
		break;
	}
}

static void hold(struct verbs_worker *vw)
{
	pthread_mutex_lock(&workers_lock);
	vw->refs++;
	pthread_mutex_unlock(&workers_lock);
}

static void channel_ready(struct watch *wa, uint32_t events)
{
	struct verbs_worker *vw = container_of(wa, struct verbs_worker, watch);
	struct rdma_cm_event *ev;
	struct verbs_cm_event copy;

	hold(vw); // it stays until its channel is empty
	while (rdma_get_cm_event(vw->channel, &ev) == 0) {
		const struct rdma_cm_id *from = ev->listen_id ? ev->listen_id : ev->id;
		struct verbs_cm_owner *owner = from->context;
		copy_event(&copy, ev);
		rdma_ack_cm_event(ev);
		owner->event(owner, &copy);
	}
	verbs_worker_put(vw);
}

static void look_run(struct timer *t)
{
	struct verbs_worker *vw = container_of(t, struct verbs_worker, look);

	hold(vw);
	timer_arm(vw->worker, t, VERBS_LOOK_USEC);
	verbs_devices_look();
	verbs_rnics_look(vw);
	verbs_listeners_look(vw);
	verbs_worker_put(vw);
}

static int channel_open(struct verbs_worker *vw, struct err *e)
{
	vw->channel = rdma_create_event_channel();
	if (!vw->channel) {
		int code = errno == ENOENT || errno == ENXIO ? -ENODEV : -errno;
		return err_set(e, code, "RDMA: %s",
			       code == -ENODEV ? "no device (load its driver and rdma_ucm)"
					       : strerror(-code));
	}
	fcntl(vw->channel->fd, F_SETFL, fcntl(vw->channel->fd, F_GETFL) | O_NONBLOCK);
	return 0;
}

static int worker_make(struct verbs_worker **ret, struct worker *w, struct err *e)
{
	struct verbs_worker *vw = calloc(1, sizeof *vw);

	if (!vw)
		return err_set(e, -ENOMEM, "RDMA: out of memory");
	int r = channel_open(vw, e);
	if (r < 0) {
		free(vw);
		return r;
	}
	vw->worker = w;
	vw->watch = (struct watch){ .fn = channel_ready, .fd = -1 };
	timer_init(&vw->look, look_run);
	list_init(&vw->rnics);
	list_init(&vw->listeners);
	vw->nowhere = (struct rnic){
		.provider = &rnic_verbs,
		.worker = w,
		.name = "none",
		.limits = {.max_send_wr = UINT32_MAX,
			    .max_sge = UINT32_MAX,
			    .max_read_sge = UINT32_MAX,
			    .max_message = UINT64_MAX},
	};
	list_push_back(&workers, &vw->link);
	*ret = vw;
	return 0;
}

int verbs_worker_get(struct verbs_worker **ret, struct worker *w, struct err *e)
{
	int r = 0;

	*ret = NULL;
	pthread_mutex_lock(&workers_lock);
	list_for_each (it, &workers)
		if (list_entry(it, struct verbs_worker, link)->worker == w)
			*ret = list_entry(it, struct verbs_worker, link);
	if (!*ret)
		r = worker_make(ret, w, e);
	if (r == 0)
		(*ret)->refs++;
	pthread_mutex_unlock(&workers_lock);
	return r;
}

int verbs_worker_enter(struct verbs_worker *vw, struct err *e)
{
	if (vw->is_watching)
		return 0;
	int r = watch_add(vw->worker, &vw->watch, vw->channel->fd, EPOLLIN);
	if (r < 0)
		return err_errno(e, r, "RDMA: watch events");
	vw->is_watching = true;
	timer_arm(vw->worker, &vw->look, VERBS_LOOK_USEC);
	return 0;
}

void verbs_worker_put(struct verbs_worker *vw)
{
	pthread_mutex_lock(&workers_lock);
	bool is_last = !--vw->refs;
	if (is_last)
		list_remove(&vw->link);
	pthread_mutex_unlock(&workers_lock);
	if (!is_last)
		return;
	timer_cancel(vw->worker, &vw->look);
	watch_remove(vw->worker, &vw->watch);
	rdma_destroy_event_channel(vw->channel);
	free(vw);
}
