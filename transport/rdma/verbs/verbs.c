// SPDX-License-Identifier: BSD-2-Clause
// The verbs provider: InfiniBand, RoCE and iWARP adapters through librdmacm and libibverbs.
#include "transport/rdma/verbs/priv.h"

const struct rnic_provider rnic_verbs = {
	.name = "verbs",
	.listen = verbs_listen,
	.listen_service = verbs_listen_service,
	.listener_addr = verbs_listener_addr,
	.listener_free = verbs_listener_free,
	.accept = verbs_accept,
	.reject = verbs_reject,
	.connect = verbs_connect,
	.close = verbs_close,
	.qp_free = verbs_qp_free,
	.post = verbs_post,
	.flush = verbs_flush,
	.reserve = verbs_reserve,
	.unreserve = verbs_unreserve,
	.rx_limit = verbs_rx_limit,
	.rx_put = verbs_rx_put,
	.register_mr = verbs_register,
	.deregister_mr = verbs_deregister,
	.find = verbs_find,
	.each_mr = verbs_each_mr,
	.expose = verbs_expose,
	.conceal = verbs_conceal,
};
