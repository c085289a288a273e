// SPDX-License-Identifier: BSD-2-Clause
// The control socket: who may connect, how much they may ask, their requests and answers.
// Control thread; nothing blocks but what a method itself does.
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
	RPC_PARTIAL_S = 10,  // for the rest of a request, or to take an answer
	RPC_STUCK_MS = 1000, // without progress, a client may be displaced
	RPC_PAUSE_MS = 100,  // between attempts to accept when descriptors are short
	RPC_TURN_MS = 10,    // for the requests of one client before the others'
	RPC_HOLD_S = 5,	     // how long an answer waits for storage to be closed
};

// Binds path, 0600 before anybody can connect. A socket nobody answers at is replaced; one
// that answers, or another process that is starting, gives -EADDRINUSE. context is copied.
int rpc_server_new(struct rpc_server **ret, struct worker *control, const char *path,
		   const struct rpc_context *context, struct err *e);
// Lets clients connect. Call when the saved configuration is loaded.
int rpc_server_listen(struct rpc_server *s, struct err *e);
// Detaches the configuration, which is going away; clients still get answers.
void rpc_server_ending(struct rpc_server *s);
// Closes every client and removes the socket. NULL is fine.
void rpc_server_free(struct rpc_server *s);
