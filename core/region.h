// SPDX-License-Identifier: BSD-2-Clause
// Memory that devices may move data to and from without the CPU: the extents of the buffer
// pools, RAM disks. Their owners announce them here; who drives a device (transport/rdma/verbs)
// watches, and registers what it is told about.
//
// Any thread; each function takes one lock and may block for as long as the watchers take, so
// none of it is for the I/O path.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"

struct region {
	uint8_t *addr;
	uint64_t len;	  // bytes
	bool is_resident; // its pages are set aside already (huge pages): pinning costs no memory
	// Private. Some watcher has pinned the pages: they must not be replaced, so no hole may be
	// punched into the region; see region_hole_begin().
	unsigned pins, holes;
	struct list link;
};

// What wants to know. Both are called with the lock held and must not call back into here, but
// for region_pin() and region_unpin().
struct region_watch {
	void (*added)(struct region_watch *w, struct region *r);
	void (*removed)(struct region_watch *w, struct region *r); // before its memory goes
	struct list link;
};

// Announces r, whose memory stays until region_remove(). r->addr and len are set, rest zeroed.
void region_add(struct region *r);
void region_remove(struct region *r); // no-op if it was not added

// added is called for every region that there is, at once, and for those to come.
void region_watch_add(struct region_watch *w);
// removed is called for every region that there is.
void region_watch_remove(struct region_watch *w);

// From added, before the pages are pinned. Waits for holes that are being punched.
void region_pin(struct region *r);
void region_unpin(struct region *r);
bool region_is_pinned(const struct region *r); // no lock

// Before pages of r are replaced: false if it is pinned, then they must not be (zero them instead).
// After true nobody pins it until region_hole_end(). Any thread, no lock.
bool region_hole_begin(struct region *r);
void region_hole_end(struct region *r);
