// SPDX-License-Identifier: BSD-2-Clause
// Memory beside the buffer pool that a connection keeps for as long as its peer likes: one limit
// for each connection, and one for all connections of a worker together. Above the latter, each
// connection may keep little, and above twice the latter very little, so that peers by the book,
// which need no more, go on.
//
// Counted per thread; called on the worker that owns the connection.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum peer_memory {
	PEER_ANSWERS,  // unsent echoes, texts and frozen data; control PDUs; bytes not parsed yet
	PEER_DATA_OUT, // unsolicited data of commands that have no buffers yet
	PEER_MEMORY_KINDS,
};

void peer_memory_take(enum peer_memory kind, uint64_t bytes);
void peer_memory_give(enum peer_memory kind, uint64_t bytes);

// Bytes that one connection may keep now.
uint64_t peer_memory_limit(enum peer_memory kind);
// Whether the connections of the worker together keep more than their limit.
bool peer_memory_is_short(enum peer_memory kind);

// Whether most of what was kept since the last time this was true has been freed: it is time for
// malloc_trim().
bool peer_memory_was_freed(void);
