// SPDX-License-Identifier: BSD-2-Clause
// Listeners: a TCP socket that accepts, on a worker. All functions on that worker's thread;
// none blocks.
#pragma once

#include "core/err.h"
#include "core/worker.h"
#include "transport/tcp/addr.h"

struct listener;

// Called from the worker's loop; no slot may block; each may call listener_free(). Without a slot
// the connection is closed, or the error ignored. The table must outlive the listener.
struct listener_ops {
	// fd is a new connection, non-blocking and close-on-exec; the callee owns it.
	void (*accepted)(struct listener *l, int fd, const struct tcp_addr *peer);
	// accept() fails until resources are free (descriptors, memory); e has the reason. Called
	// once per episode; the listener retries by itself. Connections wait in the backlog.
	void (*trouble)(struct listener *l, const struct err *e);
};

// Binds and listens. addr's port may be 0: listener_addr() returns the chosen one. An IPv6 address
// takes IPv6 connections only, so that 0.0.0.0 and [::] can be bound side by side. Errors, with a
// text: -EADDRINUSE, -EADDRNOTAVAIL (no interface has it), -EACCES, -EMFILE...
int listener_new(struct listener **ret, struct worker *w, const struct tcp_addr *addr,
		 const struct listener_ops *ops, void *arg, struct err *e);

void *listener_arg(const struct listener *l);
const struct tcp_addr *listener_addr(const struct listener *l); // with the actual port

// Stops listening: connections in the backlog are reset. NULL is fine.
void listener_free(struct listener *l);
