// SPDX-License-Identifier: BSD-2-Clause
// Software iWARP: RDMA over a plain TCP socket, wire-compatible with Linux's siw and with iWARP
// adapters. RFC 5044, RFC 6581, RFC 5041, RFC 5040. The provider is rnic_iwarp of
// transport/rdma/rnic.h, and needs neither a device nor privileges.
//
// What is particular to it:
// - The connecting side speaks first: what the accepting side posts leaves once the first message
//   of its peer is in (RFC 5044 7.1.2). Both iSER and SRP work that way.
// - rnic_find() covers all memory, since a socket needs no registration. Only what rnic_expose()
//   or rnic_register() with rights names can be reached by a peer.
// - Receive buffers exist as far as rnic_reserve() asked for them. While none is free, sockets
//   whose next message needs one are not read.
#pragma once

#include "core/err.h"
#include "core/worker.h"
#include "transport/rdma/rnic.h"

// Takes over fd, a connected TCP socket on whose first byte (peeked, unread) a peer has said that
// it speaks iWARP: MPA_FIRST_BYTE of transport/wire/iwarp.h. On w's thread; does not block.
// One of these follows, with arg: ops->request when the peer's request is in; ops->refused, and
// the socket is closed, when it is wrong or does not come within five seconds. ops and arg must
// stay until then, also after what listens has ended. On an error (-ENOMEM, -EINVAL) fd is closed.
int iwarp_passive(struct worker *w, int fd, const struct rnic_listener_ops *ops, void *arg,
		  struct err *e);
