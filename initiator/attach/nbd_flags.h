// SPDX-License-Identifier: BSD-2-Clause
// The transmission flags of the NBD protocol. Pure functions.
#pragma once

#include "initiator/disk/disk.h"

enum {
	NBD_CAN_FLUSH = 1 << 2,
	NBD_CAN_FUA = 1 << 3,
};

// The bits of the protocol's transmission flags for this disk.
uint64_t nbd_flags_of(const struct disk_facts *facts);
