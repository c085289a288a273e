// SPDX-License-Identifier: BSD-2-Clause
// What the kernel is told about a disk. Any thread.
#pragma once

#include "core/err.h"
#include "initiator/attach/ublk/uapi.h"
#include "initiator/disk/disk.h"

// Requests of at most io_bytes_max bytes, a multiple of the block size. -EINVAL with a text: its
// blocks are larger than the kernel takes.
int ublk_params_of(struct ublk_params *ret, const struct disk_facts *facts, uint32_t io_bytes_max,
		   struct err *e);
// Whether a device with these may continue on the disk: 0, or -ESTALE with a text.
int ublk_params_fit(const struct ublk_params *params, const struct disk_facts *facts,
		    struct err *e);
