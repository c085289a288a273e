// SPDX-License-Identifier: BSD-2-Clause
// A mounted filesystem of one file: the disk.
#pragma once

#include <stdbool.h>

#include "core/err.h"
#include "initiator/disk/disk.h"

struct filesystem;

struct filesystem_config {
	const char *place; // an empty directory: the mount point
	const char *name;  // of the file
	// It was unmounted, or cannot go on. On the disk's worker, once at most.
	void (*ended)(void *arg, const struct err *why);
	void *arg;
};

// Mounts it. The program's thread, as all here; blocks shortly. Negative with a text.
int filesystem_new(struct filesystem **ret, struct disk *d, const struct filesystem_config *config,
		   struct err *e);
// How often the file is open, in programs and in loop devices.
unsigned filesystem_opens(struct filesystem *fs);
// Answers all requests with EIO from now on, also those in flight.
void filesystem_fail(struct filesystem *fs);
// Tells no ended any more.
void filesystem_is_stopping(struct filesystem *fs);
// Ends it, at once: what is still mounted is unmounted lazily. NULL is fine.
void filesystem_free(struct filesystem *fs);
