// SPDX-License-Identifier: BSD-2-Clause
// Registered buffers: page-aligned memory for payload, in power-of-two sizes from 4 KiB to
// 1 MiB, one pool per worker, so that the I/O path needs neither a lock nor a system call.
//
// Memory comes in extents of 8 MiB (transparent huge pages, else 4 KiB pages; never pages of the
// machine's pool, vm.nr_hugepages), each registered as one fixed buffer with the worker's io_uring
// where the memlock limit permits. Only the owning worker's thread gets and puts buffers.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/list.h"

struct worker;
struct buf_pool;

#define BUF_MIN	 4096u
#define BUF_MAX	 (1u << 20)
#define BUF_PAGE 4096u

struct buf {
	uint8_t *addr;	       // page-aligned
	uint32_t size;	       // of the size class, bytes
	int fixed_index;       // io_uring fixed buffer index, -1 if the extent is not registered
	struct buf_pool *pool; // owner
	struct list link;      // private: free lists
	uint8_t order;	       // private: size is BUF_MIN << order
	uint8_t is_free;       // private: in the buddy system's lists
	uint16_t page;	       // private: place in its extent, in pages
};

// At least bytes of the pool exist from now on, touched, and stay while it is idle: for what must
// not ask the system for memory, as a write-back that would make some free. -ENOMEM: less than
// that, or the limit is below it. May block for the time that the system takes to clear them.
int buf_reserve(struct worker *w, uint64_t bytes);

// A wait for memory: fn runs once on the worker, at the end of a round in which buffers were put,
// in FIFO order. If its buf_get() fails again, fn calls buf_wait_add() again and keeps its place.
// Zero it before the first use.
struct buf_wait {
	struct list link;
	void (*fn)(struct buf_wait *wait);
};

// A buffer of at least len bytes (1 .. BUF_MAX), content undefined. NULL when the pool is
// exhausted: call buf_wait_add() and try again from its fn.
struct buf *buf_get(struct worker *w, uint32_t len);
void buf_put(struct buf *b); // NULL is fine
// No-op if w is queued already.
void buf_wait_add(struct worker *w, struct buf_wait *wait, void (*fn)(struct buf_wait *wait));
void buf_wait_cancel(struct buf_wait *wait);

// One piece of a scatter list. addr may lie in a pool buffer (buf, which is put when the list is
// released) or in memory that outlives the I/O (buf NULL: a RAM disk).
struct sg {
	uint8_t *addr;
	uint32_t len;
	struct buf *buf;
};

// The only function of this program that copies payload; it counts calls and bytes in the worker's
// counters. Parameter data, headers and sense are not payload: use memcpy.
void buf_copy(struct worker *w, void *to, const void *from, size_t len);

// Copies of payload made for one session.
struct buf_copies {
	uint64_t count, bytes;
};
// As buf_copy(), but counts in of as well. of belongs to the worker's thread; may be NULL.
void buf_copy_for(struct worker *w, struct buf_copies *of, void *to, const void *from, size_t len);
// Counts payload that was copied as part of bytes not yet parsed. of may be NULL.
void buf_copied(struct worker *w, struct buf_copies *of, size_t len);

struct buf_pool_stats {
	uint64_t bytes_reserved, bytes_in_use, bytes_limit, exhausted; // exhausted: buf_get -> NULL
};
void buf_pool_stats(struct worker *w, struct buf_pool_stats *ret);

// For worker.c: a pool of at most limit bytes (but at least one extent). Extents are allocated on
// demand; all but the first are freed after some idle seconds. NULL if memory is short. Free it
// after the worker's ring, on any thread.
struct buf_pool *buf_pool_new(struct worker *w, uint64_t limit);
void buf_pool_free(struct buf_pool *p);
