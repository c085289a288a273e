// SPDX-License-Identifier: BSD-2-Clause
// Folders made on the way, and files that let one process at a time into a place. Any thread;
// may block on the file system.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "core/err.h"

// Makes folder and those above it, with mode where missing. One that is there stays as it is.
// 0, or what mkdir(2) says; -ENOTDIR: a file is in the way.
int folder_make(const char *folder, mode_t mode, struct err *e);

// The same for the folder in which path lies; a bare name lies in ".".
int folder_make_for(const char *path, mode_t mode, struct err *e);

// Takes path, a file made with 0600, for this process: until the descriptor *ret_fd is closed,
// or the process ends however it ends. The file stays, since removing it would let two in.
// -EADDRINUSE, without text: another holds it; else what open(2) says.
int lockfile_take(const char *path, int *ret_fd, struct err *e);
