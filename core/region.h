// SPDX-License-Identifier: BSD-2-Clause
// Memory that devices may move data to and from without the CPU: the extents of the buffer
// pools, RAM disks. Their owners announce them here; RDMA devices (transport/rdma/verbs)
// watch the list and register the regions.
//
// Any thread. Each function takes a lock and may block while the watchers run: not for the I/O
// path.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"

struct region {
	uint8_t *addr;
	uint64_t len;	  // bytes
	bool is_resident; // its pages are reserved already (huge pages): pinning costs no memory
	// Private. A watcher has pinned the pages: they must not be replaced, so no hole may be
	// punched; see region_hole_begin().
	unsigned pins, holes;
	struct list link;
};

// A watcher of regions. Both are called with the lock held and must not call functions of this file
// except region_pin() and region_unpin().
struct region_watch {
	void (*added)(struct region_watch *w, struct region *r);
	void (*removed)(struct region_watch *w, struct region *r); // before its memory is freed
	struct list link;
};

// Announces r, whose memory stays until region_remove(). r->addr and len are set, rest zeroed.
void region_add(struct region *r);
void region_remove(struct region *r); // no-op if it was not added

// Calls added for every existing region now, and for each new one later.
void region_watch_add(struct region_watch *w);
// Calls removed for every existing region.
void region_watch_remove(struct region_watch *w);

// Call from added, before pinning the pages. Waits for holes being punched.
void region_pin(struct region *r);
void region_unpin(struct region *r);
bool region_is_pinned(const struct region *r); // no lock

// Call before replacing pages of r. False: r is pinned, so zero the pages instead. After true, r is
// not pinned until region_hole_end(). Any thread, no lock.
bool region_hole_begin(struct region *r);
void region_hole_end(struct region *r);
