// SPDX-License-Identifier: BSD-2-Clause
// fdatasync through a worker's io_uring. Many operations that must be durable share one: those that
// complete while it runs share the next.
#pragma once

#include "backstores/backstore.h"

struct fdsync; // of one file on one worker

struct fdsyncs {			   // of one file
	struct fdsync *of[WORKER_MAX + 1]; // by worker_index()
};

// What a worker has for syncs of fd, created on first use; NULL: out of memory. done ends an
// operation that was passed to fdsync_wait(). Worker thread.
struct fdsync *fdsync_get(struct fdsyncs *all, int fd, void (*done)(struct bs_io *io, int res));
// Frees those of all workers; nothing may wait. Any thread.
void fdsyncs_done(struct fdsyncs *all);

// Calls done when everything that completed before this call is durable, with 0 or a negative
// errno. Worker thread.
void fdsync_wait(struct fdsync *s, struct bs_io *io);

// A write that must be durable begins, and ends; sets io->durable. One that is alone is written
// with RWF_DSYNC, which saves an operation, unless it is_split: then each part would be flushed for
// itself. So is each if the device has_fua. Worker thread.
void fdsync_begin(struct fdsync *s, struct bs_io *io, bool has_fua, bool is_split);
void fdsync_end(struct fdsync *s, struct bs_io *io);
