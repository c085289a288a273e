// SPDX-License-Identifier: BSD-2-Clause
// Storage behind a file descriptor, served by io_uring: the common part of fileio and block, whose
// structs begin with struct fdstore.
#pragma once

#include "backstores/backstore.h"
#include "backstores/claim.h"
#include "backstores/fdsync.h"

#define FDSTORE_PACES 8

struct fdstore_pace { // ns, relaxed atomics
	uint32_t mean, deviation;
};

struct overlay;

struct fdstore {
	struct backstore bs;
	int fd;
	uint32_t mem_align, io_align; // of O_DIRECT: of addresses and of lengths, powers of two;
				      // 1 when buffered
	bool is_direct;		      // O_DIRECT
	bool has_lost_writes;	      // relaxed atomic, see fdstore_note_lost()
	bool is_durable;	      // every write is on stable storage when it completes
	bool is_punching;	      // holes may be punched, and read as zeroes
	bool is_discarding;	      // only BLKDISCARD is available: the content is undefined
	bool has_no_zero_range;	      // known after the first refusal; relaxed atomic
	bool is_polling;	      // reads and writes with IOPOLL; relaxed atomic
	bool has_fua;		      // a durable write costs the device no flush
	uint64_t dsync_max;	      // bytes that RWF_DSYNC makes durable by one flush
	struct claim claim;
	struct fdsyncs syncs;
	struct overlay *overlay; // of fileio with a map of its base's blocks; else NULL
	struct fdstore_pace pace[2][FDSTORE_PACES]; // of reads, of writes
};

// Sets limits.cache, and fd up for it: O_DIRECT, unless it is WRITEBACK. False, with a note for the
// user: fd cannot do O_DIRECT in blocks of limits.block_size, the page cache is used. Control
// thread; may block.
bool fdstore_set_cache(struct fdstore *f, enum bs_cache cache, const char *path);

// Sets up IOPOLL if config asks for it, after fdstore_set_cache(); else, or with a note for the
// user if it is not possible, reads and writes wait for interrupts. Control thread; may block.
void fdstore_set_polling(struct fdstore *f, const struct bs_config *config);

// Serves io. Worker thread.
void fdstore_submit(struct backstore *bs, struct bs_io *io);

// Syncs the directory of path, so that a new file survives a crash. Negative errno. Control thread;
// may block.
int fdstore_sync_folder(const char *path);

// What has become of the path. Control thread; may block.
enum bs_path fdstore_path(struct backstore *bs, const char *path);
// Of the file or device. Control thread.
int fdstore_fd(struct backstore *bs);

// BS_FLUSH from the control thread, which it blocks.
int fdstore_flush(struct backstore *bs, struct err *e);

// Makes durable what a volatile cache holds, since initiators may find none at the next open and
// cannot flush it then. Releases the claim and closes fd. Control thread; may block.
void fdstore_close(struct backstore *bs);
