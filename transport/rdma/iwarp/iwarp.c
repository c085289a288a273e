// SPDX-License-Identifier: BSD-2-Clause
// Software iWARP as a provider: the table of its operations. What keeps a reference to the table
// is given it from here.
#include "transport/rdma/iwarp/iwarp.h"

#include <errno.h>

#include "transport/rdma/iwarp/iw_priv.h"

int iwarp_passive(struct worker *w, int fd, const struct rnic_listener_ops *ops, void *arg,
		  struct err *e)
{
	return iw_passive(&rnic_iwarp, w, fd, ops, arg, e);
}

static int provider_listen(struct rnic_listener **ret, struct worker *w,
			   const struct tcp_addr *addr, const struct rnic_listener_ops *ops,
			   void *arg, struct err *e)
{
	return iw_listen(&rnic_iwarp, ret, w, addr, ops, arg, e);
}

static int no_service(struct rnic_listener **ret, struct worker *w, uint16_t port,
		      const struct rnic_listener_ops *ops, void *arg, struct err *e)
{
	return err_set(e, -EOPNOTSUPP, "listen: iWARP has no service ids");
}

static int provider_connect(struct rnic_qp **ret, struct worker *w, const struct tcp_addr *peer,
			    const struct tcp_addr *local, const struct rnic_qp_options *o,
			    const struct rnic_qp_ops *ops, void *owner, struct err *e)
{
	return iw_connect(&rnic_iwarp, ret, w, peer, local, o, ops, owner, e);
}

static void qp_free(struct rnic_qp *q)
{
	iw_qp_delete(iw_of(q));
}

const struct rnic_provider rnic_iwarp = {
	.takes_invalidation = true,
	.name = "iwarp",
	.listen = provider_listen,
	.listen_service = no_service,
	.listener_addr = iw_listener_addr,
	.listener_free = iw_listener_free,
	.accept = iw_accept,
	.reject = iw_reject,
	.connect = provider_connect,
	.close = iw_close,
	.qp_free = qp_free,
	.post = iw_post,
	.flush = iw_flush,
	.reserve = iw_rx_reserve,
	.unreserve = iw_rx_unreserve,
	.rx_limit = iw_rx_limit,
	.rx_put = iw_rx_put,
	.register_mr = iw_register,
	.deregister_mr = iw_deregister,
	.find = iw_find,
	.each_mr = iw_each_mr,
	.expose = iw_expose,
	.conceal = iw_conceal,
};
