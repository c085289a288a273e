// SPDX-License-Identifier: BSD-2-Clause
// One process of this machine writes a disk: a lock named after the disk's identity. Any thread;
// may block on the file system.
#pragma once

#include "core/err.h"

// Takes the lock of the disk until *ret_fd is closed or the process ends. -EADDRINUSE, without
// text: another process has it; -ENOENT, -EACCES and others with a text. A disk without identity
// ("") has no lock: 0 and -1 in *ret_fd.
int holder_claim(const char *run_dir, const char *identity, int *ret_fd, struct err *e);
