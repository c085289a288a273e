// SPDX-License-Identifier: BSD-2-Clause
// Creates and checks directories, and lock files that admit one process at a time. Any thread; may
// block on the file system.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "core/err.h"

// Creates a directory and its missing parents with mode. An existing one is not changed. 0, or an
// errno of mkdir(2); -ENOTDIR: not a directory.
int folder_make(const char *folder, mode_t mode, struct err *e);

// The same for the directory of path; that of a bare name is ".".
int folder_make_for(const char *path, mode_t mode, struct err *e);

// Whether only root and this process's user can change path, a file or directory, or put another
// one in its place: they own it and every directory above it, after symbolic links, and others may
// not write to these. A directory above it may be sticky, as /tmp; except for root, its own group
// may write. 0; -EPERM with a text that names the directory and the fix; an errno of realpath(3).
int path_check_owners(const char *path, struct err *e);

// Creates path with mode 0600 and locks it for this process, until *ret_fd is closed
// or the process ends. The file is never removed, since then two processes could hold the lock.
// -EADDRINUSE, without text: another process holds it; else an errno of open(2).
int lockfile_take(const char *path, int *ret_fd, struct err *e);

// Whether a process holds the lock of path; *ret_pid: which one, 0 if /proc/locks does not tell. A
// lockfile_take() at the same moment may fail. False without the file, or the right to read it.
bool lockfile_is_held(const char *path, pid_t *ret_pid);
