// SPDX-License-Identifier: BSD-2-Clause
// Common code of filters: a backstore over another, with per-operation settings that may
// change while I/O runs.
#pragma once

#include "backstores/types.h"

struct filter {
	struct backstore bs;
	uint32_t value[BS_OP_MAX]; // ppm or microseconds; relaxed atomics
};

// Creates a filter of type over lower, with lower's name and limits but without its memory. On
// failure lower is unchanged. Control thread.
int filter_new(struct backstore **ret, const struct backstore_type *type, struct backstore *lower,
	       struct err *e);

// Sets the values: reads (and EXTENT), writes (and UNMAP, WRITE_ZEROES), flushes. Control thread.
void filter_set(struct backstore *bs, uint32_t read, uint32_t write, uint32_t flush);

// The value for io's operation. Worker thread.
uint32_t filter_value(const struct backstore *bs, const struct bs_io *io);

// Passes io to the lower backstore. Worker thread.
void filter_pass(struct backstore *bs, struct bs_io *io);
