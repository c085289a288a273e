// SPDX-License-Identifier: BSD-2-Clause
// Shared by the files that implement fdstore.h: fdstore.c (I/O, on workers) and fdstore_open.c; and
// the steps of an I/O for overlay_io.c, which puts others before and between them.
#pragma once

#include "backstores/fdstore.h"

// A sync has failed. Linux reports that a page could not be written once for each open file, to
// whichever sync comes first, and drops the page: who wrote it does not learn that it is lost. Over
// the page cache nothing is called durable from then on. Any thread.
void fdstore_note_lost(struct fdstore *f, int res);
bool fdstore_has_lost(const struct fdstore *f);

// Begins io, whose byte is shift later in the store's file: its part is all of it, and ends it.
// Worker thread, as all below.
void fdstore_begin(struct backstore *bs, struct bs_io *io, uint64_t shift);
// Serves io as fdstore_submit() does, after fdstore_begin(). Its part may have another done.
void fdstore_serve(struct bs_io *io);
// Reads or writes io's part; then calls the part's done.
void fdstore_transfer(struct bs_io *io);
// Whether io must be durable when it ends.
bool fdstore_must_be_durable(const struct bs_io *io);
// Ends io.
void fdstore_end(struct bs_io *io, int res);
// Ends io after a sync with this result.
void fdstore_synced(struct bs_io *io, int res);
// Memory that O_DIRECT can use, in io->bounce, of at least length bytes up to BUF_MAX. False: none.
bool fdstore_get_bounce(struct bs_io *io, uint64_t length);
void fdstore_put_bounce(struct bs_io *io);
// Whether io is to be tried again after this result, EAGAIN or EINTR, which may not repeat for
// ever.
bool fdstore_try_again(struct bs_io *io, int res);
