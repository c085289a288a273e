// SPDX-License-Identifier: BSD-2-Clause
// The control socket: access rights, limits, requests and responses. Control thread; only methods
// themselves may block.
//
// With RPC_CLIENTS_MAX clients a new one displaces an idle one, or one whose request or answer
// stalls, whichever has been idle for longest. The displaced client, or the new one if none is
// idle, gets an error with the id null [JSON-RPC 2.0, 5].
#pragma once

#include "core/worker.h"
#include "target/rpc/method.h"

struct rpc_server;

enum {
	RPC_CLIENTS_MAX = 64,
	RPC_PARTIAL_S = 10,  // for the rest of a request, or for reading a response
	RPC_STUCK_MS = 1000, // without progress, a client may be displaced
	RPC_PAUSE_MS = 100,  // retry interval of accept when descriptors are short
	RPC_TURN_MS = 10,    // for the requests of one client before those of others
	RPC_HOLD_S = 5,	     // how long a response is held until storage is closed
};

// Binds path, with mode 0600 before the first connection. A stale socket is replaced; -EADDRINUSE:
// another process listens there or is starting. context is copied.
int rpc_server_new(struct rpc_server **ret, struct worker *control, const char *path,
		   const struct rpc_context *context, struct err *e);
// Lets clients connect. Call after the saved configuration is loaded.
int rpc_server_listen(struct rpc_server *s, struct err *e);
// Detaches the configuration before it is freed; clients still get responses.
void rpc_server_ending(struct rpc_server *s);
// Closes every client and removes the socket. NULL is fine.
void rpc_server_free(struct rpc_server *s);
