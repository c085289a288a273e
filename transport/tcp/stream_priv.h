// SPDX-License-Identifier: BSD-2-Clause
// The inside of a stream, shared by stream.c and connect.c.
#pragma once

#include "transport/tcp/stream.h"

struct stream {
	struct watch watch; // fd -1: closed or detached
	struct worker *worker;
	struct stream_ops ops;
	void *arg;
	struct tcp_addr local, peer;
	struct timer timeout; // of connecting, see connect.c
	struct defer report;  // calls closed after the caller's functions have returned
	int reason;	      // of the close, or why connect() failed at once
	bool is_connecting;
	bool is_hup;
	bool is_tx_blocked; // tx_ready is owed
	bool is_in_event, is_freed;
};

struct stream *stream_alloc(struct worker *w, const struct stream_ops *ops, void *arg);
void stream_set_options(int fd);
void stream_set_abortive(int fd, bool is_abortive); // SO_LINGER of no seconds
