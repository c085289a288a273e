// SPDX-License-Identifier: BSD-2-Clause
// An HTTP server for looking only: GET / (a status page), /status.json, /metrics. A thread of its
// own answers; it asks the control thread for what it tells and never the workers.
//
// Hostile clients are bounded: SERVER_CLIENTS connections, of which the one that has been without
// an answer for longest makes way for the next; SERVER_MEMORY bytes for each request,
// SERVER_REQUEST_S seconds from a connection's start, or its last answer, to the next request.
// On a loopback address it answers only requests whose Host is one (or a literal address): a page
// from elsewhere whose name resolves to 127.0.0.1 is no way in.
#pragma once

#include "core/err.h"
#include "core/worker.h"

struct config;
struct metrics_server;

enum {
	SERVER_CLIENTS = 32,
	SERVER_BACKLOG = 256, // who comes together with many is not to wait for a second SYN
	SERVER_MEMORY = 16 << 10,
	SERVER_REQUEST_S = 30,
	SERVER_ANSWER_S = 5,   // for the control thread; then it is 503
	SERVER_FRESH_MS = 250, // how old an answer may be: many who look cost as much as one
	SERVER_RETRY_S = 5,    // between two tries to bind
};
#define SERVER_DEFAULT "127.0.0.1:9287"
#define SERVER_OFF     "off"

// address: "1.2.3.4:9287", "[::1]:9287", or SERVER_OFF: then *ret is NULL. An address that is taken
// or not there yet is tried again, and logged once. -EINVAL, -ENOMEM, -EAGAIN (no thread). Control
// thread, after its worker exists.
int metrics_server_new(struct metrics_server **ret, const char *address, struct worker *control,
		       struct config *config, struct err *e);
// The configuration is going: every request is answered with 503 from now on. NULL is fine.
void metrics_server_ending(struct metrics_server *s);
// Ends the thread and frees everything. Control thread, whose loop has ended. NULL is fine.
void metrics_server_free(struct metrics_server *s);
