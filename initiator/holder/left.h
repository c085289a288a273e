// SPDX-License-Identifier: BSD-2-Clause
// What an attachment's process that has died left: its device, by its state file. The program's
// thread; may block.
#pragma once

#include <stddef.h>

#include "initiator/attach/carrier.h"
#include "initiator/holder/holder.h"

// Returns the number of the device that via can take over, and writes its path to device. -1: the
// earlier process left no such device.
int left_device(const struct holder_files *f, const struct carrier_ops *via, char *device,
		size_t size);
