// SPDX-License-Identifier: BSD-2-Clause
// The types by name, for the list in types.c, and functions for types and filters only.
#pragma once

#include "backstores/backstore.h"

extern const struct backstore_type block_type, fileio_type, null_type, pscsi_type, ramdisk_type;

// A zeroed type->size with type, ops and name set; NULL: out of memory. Free it with
// backstore_close(). Control thread.
struct backstore *backstore_alloc(const struct backstore_type *type, const char *name);

// Serves io like the null type: reads zeroes, everything is unmapped. Worker thread.
void null_submit(struct backstore *bs, struct bs_io *io);

// The limits of such storage of size bytes.
void null_limits(struct bs_limits *limits, uint64_t size, uint32_t block_size);
