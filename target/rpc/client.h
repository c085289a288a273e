// SPDX-License-Identifier: BSD-2-Clause
// A client of the control socket: its requests, its answers, and how long it may take. Private to
// target/rpc. Control thread.
#pragma once

#include <sys/socket.h>

#include "target/rpc/frame.h"
#include "target/rpc/server.h"
#include "target/rpc/socket_file.h"

struct client {
	struct list link;
	struct rpc_server *server;
	struct watch watch;
	struct timer timer; // a partial request, an answer not taken, or a held answer
	struct timer turn;  // when it goes on with what it has sent
	uint64_t turn_ns;   // when its turn began
	struct config_client who;
	bool is_admin, is_held, has_ended;
	uint64_t since_ns; // when it came, or a byte last came or went
	struct frame in;
	char *out;
	size_t out_len, out_done;
};

struct rpc_server {
	struct worker *control;
	struct rpc_context context;
	struct watch watch;
	struct timer again; // accepts when descriptors or memory may be there again
	struct socket_file file;
	bool has_told_full; // that there are too many clients
	struct list clients;
	unsigned client_count;
	uint64_t last_id; // of a client
};

// Whether who runs as uid may change something.
bool client_is_admin(uid_t uid);
// Takes over fd. Negative errno: fd is still the caller's.
int client_new(struct rpc_server *s, int fd, const struct ucred *cred);
// Closes it and what it has begun.
void client_free(struct client *c);
// Sends what waits, answers, reads on; frees the client when it has left.
void client_work(struct client *c);
