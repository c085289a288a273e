// SPDX-License-Identifier: BSD-2-Clause
// A read-only HTTP server: GET / (the status page), /status.json, /metrics. It runs on a separate
// thread and gets its data from the control thread, never from the workers.
//
// Limits on hostile clients: SERVER_CLIENTS connections, of which a new one displaces the oldest
// without a response; SERVER_MEMORY bytes per request; SERVER_REQUEST_S seconds from connecting, or
// from the last response, to the next request. On a loopback address it answers only requests whose
// Host header is localhost or a literal address, which defeats DNS rebinding.
#pragma once

#include "core/err.h"
#include "core/worker.h"

struct config;
struct metrics_server;

enum {
	SERVER_CLIENTS = 32,
	SERVER_BACKLOG = 256, // large enough that a burst of clients needs no second SYN
	SERVER_MEMORY = 16 << 10,
	SERVER_REQUEST_S = 30,
	SERVER_ANSWER_S = 5,   // for the control thread, then 503
	SERVER_FRESH_MS = 250, // cache time: many clients cost as much as one
	SERVER_RETRY_S = 5,    // between attempts to bind
};
#define SERVER_DEFAULT "127.0.0.1:9287"
#define SERVER_OFF     "off"

// Whether address is one for metrics_server_new(). -EINVAL, -ENODEV (no such interface now).
int metrics_server_check(const char *address, struct err *e);
// address: "1.2.3.4:9287", "[::1]:9287", or SERVER_OFF: then *ret is NULL. An address that is taken
// or missing is logged once and retried. -EINVAL, -ENOMEM, -EAGAIN (no thread). Control
// thread, after its worker exists.
int metrics_server_new(struct metrics_server **ret, const char *address, struct worker *control,
		       struct config *config, struct err *e);
// Call before the configuration is freed: every request gets 503 from now on. NULL is fine.
void metrics_server_ending(struct metrics_server *s);
// Ends the thread and frees everything. Control thread, whose loop has ended. NULL is fine.
void metrics_server_free(struct metrics_server *s);
