// SPDX-License-Identifier: BSD-2-Clause
// Streams: a connected TCP socket on a worker, or one that is being connected.
//
// A stream belongs to the worker that created it; all functions are called on that worker's
// thread and none blocks. Its owner reads and writes with stream_readv() and stream_writev(); its
// ops report when data or room is available. Events are edge-triggered: see the slots.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "core/err.h"
#include "core/worker.h"
#include "transport/tcp/addr.h"

struct stream;

// What a stream calls, always from the worker's loop, never from inside a stream_*() function.
// No slot may block. Every slot may call stream_close() and stream_free(). An absent slot does
// nothing. The table must outlive the stream.
struct stream_ops {
	// Bytes, an end of file or an error can be read. Read until -EAGAIN or until fewer bytes
	// arrive than requested (then, unless stream_is_hup(), nothing is left): there is no second
	// event for unread data. An owner that stops earlier must continue by itself.
	void (*rx)(struct stream *s);
	// There is room again after stream_writev() returned -EAGAIN or wrote less than requested.
	void (*tx_ready)(struct stream *s);
	// stream_connect() succeeded; the addresses are known. rx may follow.
	void (*connected)(struct stream *s);
	// The socket is closed; called once: after stream_close(), with its reason; after an error
	// while the owner does not read; after a failed connect. reason: negative errno. The owner
	// then calls stream_free(), here or later. Not called after stream_free() or
	// stream_detach_fd().
	void (*closed)(struct stream *s, int reason);
};

// Takes ownership of fd, a connected stream socket, and makes it non-blocking, without Nagle's
// algorithm. rx follows in the next round if data is there already. On an error the caller keeps
// fd.
int stream_new(struct stream **ret, struct worker *w, int fd, const struct stream_ops *ops,
	       void *arg, struct err *e);

// Starts to connect to peer, from local unless that is NULL (its port may be 0). connected follows,
// or closed if refused, or with -ETIMEDOUT after timeout_usec (0: the kernel's limit, minutes).
// After an error no callback follows. The socket is closed abortively, also by the end of the
// process: see stream_set_orderly().
int stream_connect(struct stream **ret, struct worker *w, const struct tcp_addr *peer,
		   const struct tcp_addr *local, uint64_t timeout_usec,
		   const struct stream_ops *ops, void *arg, struct err *e);

// Bytes read; 0: end of file; -EAGAIN: no data now; -ENOTCONN: closed or not connected yet; else
// the socket's error, after which the owner closes. count: 1 .. IOV_MAX.
ssize_t stream_readv(struct stream *s, const struct iovec *iov, int count);
// Bytes written, maybe less than requested; -EAGAIN: no room now; errors as above. Never raises
// SIGPIPE.
ssize_t stream_writev(struct stream *s, const struct iovec *iov, int count);

// True after the peer has closed its side or the connection is broken: then read until 0 or an
// error, since no further event follows.
bool stream_is_hup(const struct stream *s);
bool stream_is_closed(const struct stream *s); // the socket is closed

void *stream_arg(const struct stream *s);
struct worker *stream_worker(const struct stream *s);
int stream_fd(const struct stream *s);			     // -1 once closed; for socket options
const struct tcp_addr *stream_local(const struct stream *s); // kept after the close
const struct tcp_addr *stream_peer(const struct stream *s);

// Probes after idle seconds without traffic, every interval seconds, count of them (tcp(7));
// the same total time limits unacknowledged data. idle 0 disables it. Negative errno.
int stream_set_keepalive(struct stream *s, unsigned idle, unsigned interval, unsigned count);

// If both ends are on this machine, disables pacing: there is no congestion, and bbr's timers cost
// a third of the throughput at 128 KiB. Else no effect.
void stream_tune_local(struct stream *s);

// How the socket of stream_connect() is closed. By default with a reset, which drops what the
// kernel has not sent yet: it would go on sending commands after their owner has given them up, and
// a write that arrives so late replaces newer data. Orderly: what was written is still sent. Keeps
// its effect when the socket is detached.
void stream_set_orderly(struct stream *s, bool is_orderly);

// Shuts down our side after everything written is sent; reading continues. Negative errno.
int stream_shutdown(struct stream *s);

// Closes the socket now; closed follows later in this round with reason (negative errno).
// No-op on a closed stream.
void stream_close(struct stream *s, int reason);

// Detaches the connected socket, for stream_new() on another worker; unread data stays unread. No
// callback follows; the stream must still be freed. -ENOTCONN: no connected socket.
int stream_detach_fd(struct stream *s);

// Closes the socket if it is open and frees the stream; no callback follows, not even closed. NULL
// is fine.
void stream_free(struct stream *s);
