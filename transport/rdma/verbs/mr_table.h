// SPDX-License-Identifier: BSD-2-Clause
// Finds the registration that covers an address: ranges sorted by their start, looked up on every
// worker's I/O path without a lock while another thread changes them.
//
// A sequence lock: readers retry after a change. Outgrown arrays are kept until
// the end, since a reader may still use them; sizes double, so they total no more than the one in
// use. Ranges may overlap a little: any range that covers the address may be found.
#pragma once

#include <stdint.h>

#include "core/list.h"

struct mr_table_array;

struct mr_table {
	uint32_t seq; // odd while it is changed
	struct mr_table_array *array;
};

// Writers: one at a time, any thread; the caller's lock. -ENOMEM.
int mr_table_add(struct mr_table *t, const void *addr, uint64_t len, void *value);
void mr_table_remove(struct mr_table *t, const void *value); // no-op if absent
void mr_table_done(struct mr_table *t);			     // only without readers

// The value of a range that covers len bytes at addr, or NULL. Any thread.
void *mr_table_find(const struct mr_table *t, const void *addr, uint64_t len);
