// SPDX-License-Identifier: BSD-2-Clause
// The file of a listening socket: who holds it, and that nobody else does. Control thread; blocks.
#pragma once

#include <stdbool.h>

#include "core/err.h"

struct socket_file {
	char *path, *lock_path;
	int fd, lock_fd; // -1: none
	bool is_bound;	 // the path is ours to remove
};

// Takes the lock PATH.lock, removes a socket that nobody answers at, and binds; mode 0600. The
// folder is made. -EADDRINUSE: somebody runs there; -EEXIST: what is there is no socket; others by
// bind(). socket_file_done() in any case.
int socket_file_init(struct socket_file *s, const char *path, struct err *e);
// Removes the socket and lets go of the lock, whose file stays.
void socket_file_done(struct socket_file *s);
