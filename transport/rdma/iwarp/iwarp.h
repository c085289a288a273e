// SPDX-License-Identifier: BSD-2-Clause
// Software iWARP: RDMA over a plain TCP socket, wire-compatible with Linux's siw and with iWARP
// adapters. RFC 5044, RFC 6581, RFC 5041, RFC 5040. The provider is rnic_iwarp of
// transport/rdma/rnic.h; it needs neither a device nor privileges.
//
// Its properties:
// - The connecting side sends first: requests of the accepting side are sent after the first
//   message of its peer (RFC 5044 7.1.2). Both iSER and SRP work that way.
// - rnic_find() covers all memory, since a socket needs no registration. A peer can access only
//   memory of rnic_expose(), or of rnic_register() with rights.
// - There are only as many receive buffers as rnic_reserve() requested. While none is free, sockets
//   whose next message needs one are not read.
#pragma once

#include "core/err.h"
#include "core/worker.h"
#include "transport/rdma/rnic.h"

// Takes ownership of fd, a connected TCP socket whose first byte (peeked, unread) announces iWARP:
// MPA_FIRST_BYTE of transport/wire/iwarp.h. On w's thread; does not block. One of these follows,
// with arg: ops->request when the peer's request has arrived; ops->refused, with the socket closed,
// if the request is invalid or does not arrive within five seconds. ops and arg must stay valid
// until then, even after the listener is freed. On an error (-ENOMEM, -EINVAL) fd is closed.
int iwarp_passive(struct worker *w, int fd, const struct rnic_listener_ops *ops, void *arg,
		  struct err *e);
// Ends the connections of the calling worker whose requests have not arrived: ops->refused with
// why, from inside. Who ends a worker would leave them behind otherwise.
void iwarp_refuse_half_open(const struct err *why);
