// SPDX-License-Identifier: BSD-2-Clause
// Streams: a connected TCP socket on a worker, or one that is being connected.
//
// A stream belongs to the worker that created it; all functions are called on that worker's
// thread and none blocks. Its owner moves bytes with stream_readv() and stream_writev() and is
// told by its ops when data or room is available. Events are edges: see the slots.
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
	// come than were asked for (then, unless stream_is_hup(), nothing is left): there is no
	// second event for what is left unread. Who stops before that goes on by himself.
	void (*rx)(struct stream *s);
	// There is room again after stream_writev() returned -EAGAIN or wrote less than asked.
	void (*tx_ready)(struct stream *s);
	// stream_connect() succeeded; the addresses are known. rx may follow.
	void (*connected)(struct stream *s);
	// The socket is closed, once: by stream_close(), with its reason; by an error while
	// nobody reads; by a connect that failed. reason: negative errno. The owner then calls
	// stream_free(), here or later. Not called after stream_free() or stream_detach_fd().
	void (*closed)(struct stream *s, int reason);
};

// Takes over fd, a connected stream socket (it is made non-blocking, without Nagle's delay).
// rx comes in the next round if something is there already. On an error fd stays the caller's.
int stream_new(struct stream **ret, struct worker *w, int fd, const struct stream_ops *ops,
	       void *arg, struct err *e);

// Begins to connect to peer, from local unless that is NULL (its port may be 0). Ends with
// connected or, after timeout_usec (0: the kernel's own time, minutes) with -ETIMEDOUT or when
// refused, with closed. An error here means that no callback comes.
int stream_connect(struct stream **ret, struct worker *w, const struct tcp_addr *peer,
		   const struct tcp_addr *local, uint64_t timeout_usec,
		   const struct stream_ops *ops, void *arg, struct err *e);

// Bytes moved; 0: end of file; -EAGAIN: nothing there now; -ENOTCONN: closed or not connected
// yet; else the socket's error, after which the owner closes. count: 1 .. IOV_MAX.
ssize_t stream_readv(struct stream *s, const struct iovec *iov, int count);
// Bytes moved, maybe less than asked; -EAGAIN: no room now; errors as above. Never SIGPIPE.
ssize_t stream_writev(struct stream *s, const struct iovec *iov, int count);

// True once the peer has ended its side or the connection is broken: then read until 0 or an
// error, since no further event announces it.
bool stream_is_hup(const struct stream *s);
bool stream_is_closed(const struct stream *s); // the socket is gone

void *stream_arg(const struct stream *s);
struct worker *stream_worker(const struct stream *s);
int stream_fd(const struct stream *s);			     // -1 once closed; for socket options
const struct tcp_addr *stream_local(const struct stream *s); // kept after the close
const struct tcp_addr *stream_peer(const struct stream *s);

// Probes after idle seconds without traffic, every interval seconds, count of them (tcp(7));
// unacknowledged data may be as old as all that together. idle 0 turns it off. Negative errno.
int stream_set_keepalive(struct stream *s, unsigned idle, unsigned interval, unsigned count);

// Where both ends are on this machine, has the kernel send without pacing: there is no congestion,
// and bbr's timers cost a third of the throughput at 128 KiB. Else nothing.
void stream_tune_local(struct stream *s);

// Ends our side once all that was written is sent; reading goes on. Negative errno.
int stream_shutdown(struct stream *s);

// Closes the socket now; closed follows later in this round with reason (negative errno).
// No-op on a closed stream.
void stream_close(struct stream *s, int reason);

// Hands the connected socket out, for stream_new() on another worker; what is unread stays
// unread. No callback comes any more; the stream remains to be freed. -ENOTCONN if there is none.
int stream_detach_fd(struct stream *s);

// Closes the socket if it is open and frees the stream; no callback comes any more, not even
// closed. NULL is fine.
void stream_free(struct stream *s);
