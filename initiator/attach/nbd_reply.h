// SPDX-License-Identifier: BSD-2-Clause
// Answers of the NBD protocol: what stands before their data. Simple replies, and with structured
// ones a single chunk for each answer, which so is the last one. Pure functions. The NBD project's
// doc/proto.md, "Transmission".
#pragma once

#include "initiator/attach/nbd_wire.h"
#include "initiator/disk/disk.h"

enum {
	NBD_ANSWER_MAX = 128, // bytes of an answer without its data
	NBD_ALLOCATION = 1,   // id of the context base:allocation
};

// The answer to a request that ended with res (0, a res of disk.h, or one of nbd_refusal()),
// followed by data bytes. Returns the bytes in p.
unsigned nbd_reply(uint8_t p[NBD_ANSWER_MAX], const struct nbd_request *r, int res, uint32_t data,
		   bool is_structured);
// The extents of a DISK_EXTENTS, in place, as descriptors of base:allocation; a range has less than
// 4 GiB. Returns their bytes.
uint32_t nbd_descriptors(void *extents, unsigned count);
