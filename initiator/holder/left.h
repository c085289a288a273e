// SPDX-License-Identifier: BSD-2-Clause
// What an attachment's process that has died left: its device, by its state file. The program's
// thread; may block.
#pragma once

#include <stddef.h>

#include "initiator/attach/carrier.h"
#include "initiator/holder/holder.h"

// The number of the device that via can take over, and its path; -1: there is none.
int left_device(const struct holder_files *f, const struct carrier_ops *via, char *device,
		size_t size);
