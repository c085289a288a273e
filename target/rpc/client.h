// SPDX-License-Identifier: BSD-2-Clause
// A client of the control socket: its requests, answers and time-outs. Private to
// target/rpc. Control thread.
#pragma once

#include <sys/socket.h>

#include "core/frame.h"
#include "target/rpc/server.h"
#include "target/rpc/socket_file.h"

// Bytes of one request; with a document, which only clients with full access may send.
enum { RPC_REQUEST_MAX = 4 << 20, RPC_DOCUMENT_MAX = FRAME_REQUEST_MAX };

struct client {
	struct list link;
	struct rpc_server *server;
	struct watch watch;
	struct timer timer; // for a partial request, an unread response or a held response
	struct timer turn;  // its next turn
	uint64_t turn_ns;   // when its turn began
	struct config_client who;
	bool is_admin, is_held, has_ended;
	uint64_t since_ns; // connected, or last byte received or sent
	struct frame in;
	char *out;
	size_t out_len, out_done;
};

struct rpc_server {
	struct worker *control;
	struct rpc_context context;
	struct watch watch;
	struct timer again; // retries accept after a shortage of descriptors or memory
	struct socket_file file;
	bool has_told_full; // the limit of clients was logged
	struct list clients;
	unsigned client_count;
	uint64_t last_id; // of a client
};

// Whether a client with this uid may change the configuration.
bool client_is_admin(uid_t uid);
// Takes ownership of fd. Negative errno: the caller still owns fd.
int client_new(struct rpc_server *s, int fd, const struct ucred *cred);
// Closes the connection and aborts its transaction.
void client_free(struct client *c);
// Sends pending output, answers requests, reads more; frees the client if it is gone.
void client_work(struct client *c);
