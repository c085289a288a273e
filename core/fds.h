// SPDX-License-Identifier: BSD-2-Clause
// Limits on file descriptors by purpose. The kernel allocates the lowest free number, so a number
// shows how many are in use: connections may use numbers below one mark, storage those below a
// higher one; the rest is reserved for administration (control socket, portals, the saved file).
#pragma once

#include <stdbool.h>

enum fds_purpose { FDS_CONNECTIONS, FDS_STORAGE, FDS_PURPOSES };

// Opens standard input, output and error if they are closed, so that no file or socket gets their
// numbers; reading or writing them fails with EBADF.
// First in main().
void fds_fill_std(void);

// Raises the soft limit of open files to the hard one and sets the marks. Call once, before threads
// start; without it there are no marks.
void fds_init(void);
unsigned fds_limit(void); // descriptors in all. Any thread.
// The first number that this purpose may not use. Any thread.
unsigned fds_mark(enum fds_purpose purpose);
// The lowest free number. Any thread; two system calls.
unsigned fds_in_use(void);
// Whether the next descriptor may be used for this purpose. Any thread; two system calls.
bool fds_have_room(enum fds_purpose purpose);
