// SPDX-License-Identifier: BSD-2-Clause
// Who uses a block device. The program's thread, may block.
#pragma once

#include <stdbool.h>

#include "core/err.h"

// 0: nobody uses the block device at path or its partitions. -EBUSY with a text "path: mounted at
// '/x'", "path: used by dm-0", "path: swap", "path: opened by 'fio' (pid 12)". Other errors: it
// cannot be examined, or it is not a block device.
int use_check(const char *path, struct err *e);
// True: a block device that was deleted (ublk) or disconnected (nbd): it has no size.
bool use_is_gone(const char *path);
