// SPDX-License-Identifier: BSD-2-Clause
// The file of a listening socket and its lock. Control thread; blocks.
#pragma once

#include <stdbool.h>

#include "core/err.h"

struct socket_file {
	char *path, *lock_path;
	int fd, lock_fd; // -1: none
	bool is_bound;	 // we must remove the path
};

// Takes the lock PATH.lock, removes a stale socket, and binds; mode 0600. Creates the directory.
// -EADDRINUSE: another process has the lock; -EEXIST: not a socket; errnos of bind(). Call
// socket_file_done() in any case.
int socket_file_init(struct socket_file *s, const char *path, struct err *e);
// Removes the socket and releases the lock, whose file stays.
void socket_file_done(struct socket_file *s);
