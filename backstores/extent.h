// SPDX-License-Identifier: BSD-2-Clause
// The allocation of a file: BS_EXTENT by FIEMAP, or SEEK_DATA and SEEK_HOLE, on an offload thread.
#pragma once

#include "backstores/backstore.h"

// Serves io, a BS_EXTENT, in whole blocks of bs; a block that is partly data counts as data. Its
// bytes are shift later in fd, a multiple of the block size; of the first length ones, at most
// io->length. fd stays open until io->done. Worker thread.
void extent_submit(struct backstore *bs, struct bs_io *io, int fd, uint64_t shift, uint64_t length);

// The same on the calling thread, which may block: fills io's results from io->part. Negative
// errno.
int extent_find(struct bs_io *io);
