// SPDX-License-Identifier: BSD-2-Clause
// What a client of the NBD protocol may ask for: the transmission flags, and the requests that are
// refused before the disk sees them. Pure functions. The NBD project's doc/proto.md.
#pragma once

#include "initiator/attach/nbd_wire.h"
#include "initiator/disk/disk.h"

enum {
	NBD_CAN_FLUSH = 1 << 2,
	NBD_CAN_FUA = 1 << 3,
	NBD_CAN_TRIM = 1 << 5,
	NBD_CAN_WRITE_ZEROES = 1 << 6,
	NBD_CAN_DF = 1 << 7, // only with structured replies
	NBD_CAN_MULTI_CONN = 1 << 8,
	NBD_CAN_FAST_ZERO = 1 << 11,
};

// What a client was told.
struct nbd_offer {
	uint16_t flags;	     // NBD_CAN_*
	bool is_structured;  // structured replies were negotiated
	bool has_allocation; // ... and the context base:allocation
};

// The bits of the protocol's transmission flags for this disk.
uint64_t nbd_flags_of(const struct disk_facts *facts);

// 0: the disk may have the request, also one that it refuses itself. Else what nbd_reply() tells
// the client: -EBADRQC: the command or a flag was not offered; -EROFS; -EFBIG, -ERANGE: a write,
// another command beyond the end of the disk; -EINVAL: no bytes, too many for a read, or not whole
// blocks; -EOPNOTSUPP: zeroes that would not be fast.
int nbd_refusal(const struct nbd_request *r, const struct nbd_offer *offer,
		const struct disk_facts *facts);
