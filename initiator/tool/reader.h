// SPDX-License-Identifier: BSD-2-Clause
// A range of a disk read ahead, in order, for a copy to another disk. The program's thread; blocks.
#pragma once

#include "initiator/tool/tool.h"

struct reader;

// Begins to read bytes from offset on in commands of chunk bytes, all multiples of the block size.
// Errors with a text.
int reader_new(struct reader **ret, struct tool_disk *d, uint64_t offset, uint64_t bytes,
	       uint32_t chunk, struct err *e);
// The next len bytes, a whole command's or the rest: copies them to buf. Returns len, or a negative
// errno with a text.
int64_t reader_take(struct reader *r, uint8_t *buf, uint32_t len, struct err *e);
// Waits for its commands and frees it; NULL is fine.
void reader_free(struct reader *r);
