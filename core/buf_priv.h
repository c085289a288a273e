// SPDX-License-Identifier: BSD-2-Clause
// The inside of a buffer pool, shared by buf.c (sizes, quick lists, waiters) and buf_extent.c
// (memory from the system, its registration, the buddy system).
#pragma once

#include <assert.h>

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#endif

#include "core/buf.h"
#include "core/region.h"
#include "core/worker.h"

#define BUF_ORDERS   9 // 4 KiB << 0 .. 4 KiB << 8
#define EXTENT_SIZE  (8u << 20)
#define EXTENT_PAGES (EXTENT_SIZE / BUF_PAGE)
#define EXTENTS_MAX  4096u // 32 GiB a worker

static_assert(BUF_MIN << (BUF_ORDERS - 1) == BUF_MAX, "orders and sizes agree");

struct buf_extent {
	struct buf_pool *pool;
	uint8_t *addr;
	int fixed_index;
	struct region region;	       // announced to device drivers
	unsigned index;		       // in pool->extents
	unsigned pages_used;	       // not in the buddy system's free lists
	struct buf bufs[EXTENT_PAGES]; // a block is described by its first page's entry
};

struct buf_pool {
	struct worker *worker;
	struct list quick[BUF_ORDERS]; // recently put, not merged with their buddies; LIFO
	unsigned quick_count[BUF_ORDERS];
	struct list free[BUF_ORDERS]; // the buddy system
	struct list waiters;
	struct defer wake;
	struct timer trim;
	struct buf_extent **extents; // extents_max slots, NULL if unused
	unsigned extents_max, extent_count;
	unsigned extents_kept;		  // by buf_reserve(); 0: one
	uint64_t in_use, peak, exhausted; // bytes, most bytes since the last trim, refusals
	bool has_table;			  // the ring's table of fixed buffers exists
	bool no_register;		  // registration failed, do not try again
};

// Maps and registers one more extent and gives it to the buddy system; -ENOMEM.
int extent_add(struct buf_pool *p);
// Unregisters and unmaps an extent without used pages.
void extent_remove(struct buf_extent *x);
void extent_free(struct buf_extent *x); // unmaps only, whatever its state

void extent_touch(struct buf_extent *x); // its pages exist now; their content stays

// A block from the buddy system, or NULL.
struct buf *buddy_get(struct buf_pool *p, unsigned order);
void buddy_put(struct buf *b);

// Poisons free memory under AddressSanitizer.
static inline void buf_forbid(const void *addr, size_t len)
{
#ifdef ASAN_POISON_MEMORY_REGION
	ASAN_POISON_MEMORY_REGION(addr, len);
#endif
}

static inline void buf_allow(const void *addr, size_t len)
{
#ifdef ASAN_UNPOISON_MEMORY_REGION
	ASAN_UNPOISON_MEMORY_REGION(addr, len);
#endif
}

static inline struct buf_extent *buf_extent_of(struct buf *b)
{
	return container_of(b - b->page, struct buf_extent, bufs[0]);
}
