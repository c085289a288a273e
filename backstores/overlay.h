// SPDX-License-Identifier: BSD-2-Clause
// A file over a base image, for fileio: a clone of the file system, or an overlay file with a map
// (overlay.md). The base is never written.
#pragma once

#include <pthread.h>

#include "backstores/fdstore.h"
#include "backstores/overlay_header.h"
#include "backstores/overlay_map.h"

// Commits of the map, for all workers: those that wait while one runs share the next.
struct overlay_sync {
	pthread_mutex_t lock;
	pthread_cond_t idle; // is_running has ended
	struct list waiting; // struct bs_io, for the next one
	struct list served;  // by the one that runs
	bool is_running;     // on a worker, or on the control thread
	struct defer defer;  // of the worker that runs it, as the rest
	struct uring_op op;
	unsigned step, tries;
	uint64_t at, length; // of the pages being written
};

// An open overlay file, of one fdstore.
struct overlay {
	struct overlay_map map;
	struct overlay_layout layout;
	uint64_t base_size;
	int base_fd; // over the page cache: overlays share what was read
	int map_fd;  // of the same file as the store's, over the page cache
	struct claim base_claim;
	struct fdstore *store;
	struct overlay_sync sync;
	// First writes of blocks: those of the same block take turns.
	pthread_mutex_t lock;
	struct list changes; // struct bs_io, under way
	struct list turns;   // that wait for them
};

// ---- overlay_file.c: control thread, may block ----

// Whether the open file is an overlay file.
bool overlay_is(int fd);
// Makes the new empty file fd a clone of the base or an overlay file, as wanted says, of size bytes
// (0: the base's size), and syncs it. *ret: what it has become. -EOPNOTSUPP: a clone was wanted and
// is not possible. path is for messages.
int overlay_create(int fd, const char *path, const char *base, uint64_t size,
		   enum bs_overlay wanted, const char *name, enum bs_overlay *ret, struct err *e);
// Opens the overlay file of f, whose fd is open, and its base; sets f->overlay. name: of the
// storage object, borrowed. On failure nothing is open.
int overlay_open(struct fdstore *f, const struct bs_config *config, struct err *e);
void overlay_close(struct fdstore *f); // after a flush
// Negative errno with a text that says what is wrong with the header.
int overlay_read_header(int fd, struct overlay_header *ret, struct err *e);

// ---- overlay_reset.c: control thread, may block ----

// Makes PATH.reset, which replaces the overlay at path by overlay_replace(): empty, of the same
// kind and permissions, and of its size or of size bytes, whichever is more. -EEXIST, -EBUSY: there
// is a PATH.reset that no reset has left, or that is in use. Both work on files that are open
// elsewhere.
int overlay_prepare(const char *path, const char *base, uint64_t size, enum bs_overlay kind,
		    const char *name, struct err *e);
int overlay_replace(const char *path, struct err *e);
void overlay_forget(const char *path); // removes what overlay_prepare() has made

// ---- overlay_sync.c ----
void overlay_sync_init(struct overlay *o);
void overlay_sync_done(struct overlay *o);
// Ends io, which has done its part, when everything before is durable, the map too. Worker thread.
void overlay_sync_wait(struct overlay *o, struct bs_io *io);
// The same on the control thread, which waits. Negative errno.
int overlay_sync_now(struct overlay *o);

// ---- overlay_io.c ----
void overlay_submit(struct backstore *bs, struct bs_io *io); // as backstore_type.submit
