// SPDX-License-Identifier: BSD-2-Clause
// What an attachment's process that has died left: its device, by its state file. The program's
// thread; may block.
#pragma once

#include <stddef.h>

#include "initiator/attach/carrier.h"
#include "initiator/holder/holder.h"

struct left_device {
	char path[CARRIER_PATH_MAX];
	int id; // -1: the earlier process left no device that via can take over
};

// What via can take over. -ESTALE with a text: it is of another disk than is; NULL: of whichever.
int left_device(const struct holder_files *f, const struct carrier_ops *via,
		const struct disk_facts *is, struct left_device *ret, struct err *e);
