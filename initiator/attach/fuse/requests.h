// SPDX-License-Identifier: BSD-2-Clause
// The requests of the file: data and flushes that go to the disk, a bounded number at once. The
// disk's worker; nothing blocks.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "initiator/attach/fuse/fuse.h"
#include "initiator/disk/disk.h"

struct requests;

// room: there is room again after requests_have_room() was false; at the end of a round.
// -ENOMEM with a text.
int requests_new(struct requests **ret, struct disk *d, void (*room)(void *arg), void *arg,
		 struct err *e);
// False: no request may be given until room().
bool requests_have_room(const struct requests *r);

// Each answers req, at once or later, in bytes, for the part of the range that exists. An offset or
// a length that is no multiple of the disk's block size is answered with EINVAL.
void requests_read(struct requests *r, fuse_req_t req, off_t offset, size_t len);
// If requests_have_room() is false after it, data must stay until room().
void requests_write(struct requests *r, fuse_req_t req, off_t offset, const void *data, size_t len);
void requests_flush(struct requests *r, fuse_req_t req);
// The range reads as zeroes; may_unmap: it need not stay allocated.
void requests_zero(struct requests *r, fuse_req_t req, off_t offset, off_t len, bool may_unmap);

// Answers all with EIO, those in flight and those to come. The disk may still execute them.
void requests_fail(struct requests *r);
// As requests_fail(), and frees r, its memory when the disk has done with it. NULL is fine.
void requests_free(struct requests *r);
