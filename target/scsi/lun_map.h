// SPDX-License-Identifier: BSD-2-Clause
// LUN maps and LUN addresses (SAM-5 4.7). A LUN map is an immutable, refcounted snapshot created by
// the configuration.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct lu;

// One LUN of a map.
struct lun_entry {
	uint16_t number; // LUN number, 0..16383
	bool is_write_protected;
	uint16_t alua_group; // id of the LU's target port group this path belongs to
	struct lu *lu;	     // the map holds a reference
};

// Immutable once published.
struct lun_map {
	int refs; // atomic
	uint32_t count;
	struct lun_entry entries[]; // ascending by number
};

// A map with room for count entries and one reference; the caller fills entries (with LU references
// of lu_get()) before it shares the map. Control thread. NULL: no memory.
struct lun_map *lun_map_new(uint32_t count);
struct lun_map *lun_map_get(struct lun_map *m); // any thread
void lun_map_put(struct lun_map *m);		// any thread; drops the LU references last

// The LUN of that number, by halves; NULL: none. Any thread that holds a reference.
const struct lun_entry *lun_map_find(const struct lun_map *m, uint16_t number);

// SAM-5 4.7 single-level LUN structures: peripheral (0..255) and flat (0..16383) addressing.
// decode returns UINT64_MAX for any other address.
uint64_t lun_decode(const uint8_t lun[8]);
void lun_encode(uint8_t out[8], uint16_t number);
