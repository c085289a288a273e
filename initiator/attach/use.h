// SPDX-License-Identifier: BSD-2-Clause
// Who uses a block device. The program's thread, may block.
#pragma once

#include "core/err.h"

// 0: nobody uses the block device at path or its partitions. -EBUSY with a text "path: mounted at
// '/x'", "path: used by dm-0", "path: swap", "path: opened by 'fio' (pid 12)". Other errors: it
// cannot be examined, or it is not a block device.
int use_check(const char *path, struct err *e);
