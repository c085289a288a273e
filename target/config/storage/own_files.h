// SPDX-License-Identifier: BSD-2-Clause
// The daemon's own files, which no disk may be in. Control thread.
#pragma once

#include "target/config/tree/tree.h"

// -EINVAL with text: dev is, or would become, one of the daemon's own files, under any name.
// Usually two system calls. Control thread; blocks on the file system.
int own_files_refuse(struct config *c, const char *dev, struct err *e);
// The files may have changed: call before opening disks.
void own_files_forget(struct config *c);
