// SPDX-License-Identifier: BSD-2-Clause
// Keeps two storage objects from serving the same file or device, or from writing a base: within
// this process by a list, against other programs by a lock on the open file (OFD lock) that the
// kernel releases with the last descriptor. Control thread only.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "core/err.h"
#include "core/list.h"

enum claim_kind {
	CLAIM_WRITE, // served, and written: by nobody else
	CLAIM_READ,  // served, never written
	CLAIM_BASE,  // read as the base of an overlay: by any number of them
};

struct claim {
	struct list link;
	enum claim_kind kind;
	dev_t dev; // of the device itself, or of the filesystem of inode ino
	ino_t ino; // 0 for a device
	const char *name;
};

// Claims the file or device of fd for the storage object name (borrowed until claim_release); path
// is for messages. -EBUSY with a text that names the owner.
int claim_take(struct claim *c, int fd, enum claim_kind kind, const char *name, const char *path,
	       struct err *e);
// The lock ends when the caller closes fd. No-op for a zeroed claim.
void claim_release(struct claim *c);
