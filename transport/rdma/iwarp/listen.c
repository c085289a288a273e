// SPDX-License-Identifier: BSD-2-Clause
// Listeners of the provider: accept on the listener's worker and pass the socket to the worker that
// the caller assigns. Sockets without a request yet end with their listener on its own worker;
// for those on other workers the caller keeps ops and arg (see iwarp.h).
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "transport/rdma/iwarp/iw_priv.h"
#include "transport/tcp/listener.h"

struct iw_listener {
	struct rnic_listener l; // first
	struct listener *tcp;
	struct worker *worker;
	const struct rnic_listener_ops *ops;
	void *arg;
	struct iw_device *dev; // kept, so that it is not recreated for each connection
};

// A socket being passed to another worker.
struct handover {
	struct msg msg;
	const struct rnic_provider *provider;
	struct worker *to;
	int fd;
	const struct rnic_listener_ops *ops;
	void *arg;
};

static void on_handover(struct msg *m)
{
	struct handover *h = container_of(m, struct handover, msg);

	iw_passive(h->provider, h->to, h->fd, h->ops, h->arg, NULL);
	free(h);
}

static void hand_over(struct iw_listener *l, struct worker *to, int fd)
{
	struct handover *h = malloc(sizeof *h);

	if (!h) {
		close(fd);
		return;
	}
	*h = (struct handover){
		.msg.fn = on_handover,
		.provider = l->l.provider,
		.to = to,
		.fd = fd,
		.ops = l->ops,
		.arg = l->arg,
	};
	worker_post(to, &h->msg);
}

static void on_accepted(struct listener *tcp, int fd, const struct tcp_addr *peer)
{
	struct iw_listener *l = listener_arg(tcp);
	struct worker *to = l->ops->assign ? l->ops->assign(l->arg, peer) : l->worker;

	if (!to)
		close(fd);
	else if (to == l->worker)
		iw_passive(l->l.provider, to, fd, l->ops, l->arg, NULL);
	else
		hand_over(l, to, fd);
}

static const struct listener_ops tcp_ops = { .accepted = on_accepted };

int iw_listen(const struct rnic_provider *p, struct rnic_listener **ret, struct worker *w,
	      const struct tcp_addr *addr, const struct rnic_listener_ops *ops, void *arg,
	      struct err *e)
{
	struct iw_listener *l = calloc(1, sizeof *l);

	if (l)
		l->dev = iw_device_get(p, w);
	if (!l || !l->dev) {
		free(l);
		return err_set(e, -ENOMEM, "iwarp: out of memory for a listener");
	}
	l->l.provider = p;
	l->worker = w;
	l->ops = ops;
	l->arg = arg;
	int r = listener_new(&l->tcp, w, addr, &tcp_ops, l, e);
	if (r < 0) {
		iw_device_put(l->dev);
		free(l);
		return r;
	}
	*ret = &l->l;
	return 0;
}

const struct tcp_addr *iw_listener_addr(const struct rnic_listener *l)
{
	return listener_addr(((const struct iw_listener *)(const void *)l)->tcp);
}

void iw_listener_free(struct rnic_listener *rl)
{
	struct iw_listener *l = (void *)rl;

	listener_free(l->tcp);
	list_for_each_safe (it, &l->dev->half_open) {
		struct iw_qp *qp = list_entry(it, struct iw_qp, half_open);
		if (qp->lops == l->ops && qp->larg == l->arg)
			iw_drop(qp);
	}
	iw_device_put(l->dev);
	free(l);
}
