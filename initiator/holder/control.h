// SPDX-License-Identifier: BSD-2-Clause
// The socket of an attachment's process. The program's thread; nothing blocks.
//
// Several clients are served at a time, none keeps another one waiting: each has a minute for its
// whole request, as a busy machine may keep one from sending it. Of more clients than there is room
// for, the one that has taken longest goes.
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"

struct json_object;

enum holder_request { HOLDER_STATUS, HOLDER_DETACH, HOLDER_DETACH_FORCE, HOLDER_REQUEST_COUNT };

enum {
	CONTROL_CLIENTS_MAX = 16,
	CONTROL_FDS_MAX = CONTROL_CLIENTS_MAX + 1,
	CONTROL_REQUEST_MAX = 32, // bytes
	CONTROL_REQUEST_MS = 60000,
};

struct control_client {
	int fd;		   // -1: free
	bool has_request;  // a whole one, to be answered
	bool is_given;	   // control_next() has returned it
	uint64_t until_ms; // of the request
	enum holder_request request;
	unsigned len;
	char line[CONTROL_REQUEST_MAX];
};

struct control {
	int listener;
	struct control_client clients[CONTROL_CLIENTS_MAX];
};

// The request in len bytes with a newline at the end; -EINVAL: none of those.
int control_parse(const char *line, unsigned len);

// Listens, with mode 0600; a socket that a dead process left is replaced. 0, or negative with a
// text.
int control_open(struct control *c, const char *path, struct err *e);
// Closes the socket and all clients.
void control_close(struct control *c);

// What poll() is to wait for; returns the number of fds.
unsigned control_fds(const struct control *c, struct pollfd fds[CONTROL_FDS_MAX]);
// Milliseconds until a client is late; -1: without a limit.
int control_timeout(const struct control *c, uint64_t now_ms);
// After poll(): accepts clients, reads requests, closes clients that are late or have sent
// something else. now_ms: CLOCK_MONOTONIC.
void control_run(struct control *c, uint64_t now_ms);
// A client whose request is to be answered, once each; NULL: none.
struct control_client *control_next(struct control *c);
// A client whose request was given by control_next() and is not answered yet, of requests up to
// this one but HOLDER_STATUS; NULL: none.
struct control_client *control_waiting(struct control *c, enum holder_request up_to);
// Sends the answer, of at most HOLDER_ANSWER_MAX bytes, and closes the client.
void control_answer(struct control_client *client, struct json_object *answer);
