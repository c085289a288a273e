// SPDX-License-Identifier: BSD-2-Clause
// Which blocks of a disk are the overlay's, in memory: a bit for each block of the base, and one
// for each whose bit is in the file, too. Bits are set, never cleared, by any worker without a
// lock. What is to be made durable is found by page: a page has the bits of 128 MiB. Memory is used
// for pages that have bits only.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "backstores/overlay_header.h"

struct overlay_map {
	uint64_t blocks; // that have a bit; later ones are the overlay's
	uint64_t bytes;	 // of live, safe and staged, whole pages
	uint8_t *live;	 // the map
	uint8_t *safe;	 // those of live that outlive this process: kept or noted in the file
	uint8_t *staged; // what a commit writes
	uint8_t *pages;	 // flags of each page, atomics
	uint64_t page_count;
	uint32_t dirty_count; // of pages that are not clean, at least; atomic
};

// -ENOMEM. Control thread.
int overlay_map_init(struct overlay_map *m, const struct overlay_layout *l);
void overlay_map_done(struct overlay_map *m); // a zeroed one is fine

// How many blocks from first on, at most count, are all the overlay's (*ret_own) or all the base's.
// Any thread.
uint64_t overlay_map_run(const struct overlay_map *m, uint64_t first, uint64_t count,
			 bool *ret_own);
// Whether all these blocks are the overlay's. Any thread.
bool overlay_map_owns(const struct overlay_map *m, uint64_t first, uint64_t count);
// They are from now on; their data is in the file. Any thread.
void overlay_map_set(struct overlay_map *m, uint64_t first, uint64_t count);
// Whether all these blocks are the overlay's, and will be if this process is killed now. A change
// of others sets their bits, and notes or commits them, before it ends: also if another change has
// set them, which may not have noted them yet, or has failed to. Any thread.
bool overlay_map_is_safe(const struct overlay_map *m, uint64_t first, uint64_t count);
// Their bits, which are set, have been noted in the file. Any thread.
void overlay_map_noted(struct overlay_map *m, uint64_t first, uint64_t count);
// Adds the bits of a part of a map in the file, from byte offset at on. Control thread.
void overlay_map_load(struct overlay_map *m, uint64_t at, const uint8_t *bits, uint64_t length);
// All pages that have bits are written by the next commit. Control thread.
void overlay_map_touch(struct overlay_map *m);
// Whether the bits of these blocks, which are safe or were set by the caller, may not be durable
// yet. Any thread.
bool overlay_map_is_dirty(const struct overlay_map *m, uint64_t first, uint64_t count);
// Whether any bit may not be. Any thread.
bool overlay_map_has_dirty(const struct overlay_map *m);

// A commit, one at a time: copies the pages that have changed to staged.
void overlay_map_stage(struct overlay_map *m);
// The first run of staged pages from byte offset from on: its offset and length in bytes; length 0:
// there are no more.
uint64_t overlay_map_staged(const struct overlay_map *m, uint64_t from, uint64_t *ret_length);
// The staged pages are durable, and their bits safe, or have changed still (has_failed).
void overlay_map_commit(struct overlay_map *m, bool has_failed);
