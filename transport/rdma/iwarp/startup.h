// SPDX-License-Identifier: BSD-2-Clause
// Private to software iWARP: what both sides of MPA's startup share. On the worker's thread.
#pragma once

#include "transport/rdma/iwarp/iw_priv.h"

// False: the socket does not take it.
bool iw_send_frame(struct iw_qp *qp, const struct mpa_frame *f);
// Reads the peer's. 1: it is complete, in qp->peer_frame; 0: not yet; negative: error in e.
int iw_read_frame(struct iw_qp *qp, bool is_reply, struct err *e);

// -EINVAL: the caller's private data is too long.
int iw_check_private(uint32_t len, uint32_t most, struct err *e);
// The head of a queue pair, and what of the options the startup needs.
void iw_init_head(struct iw_qp *qp, const struct rnic_qp_options *o, const struct rnic_qp_ops *ops,
		  void *owner);
void iw_set_tos(struct iw_qp *qp);
static inline void iw_lower(uint32_t *n, uint32_t most)
{
	if (*n > most)
		*n = most;
}
