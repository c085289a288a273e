// SPDX-License-Identifier: BSD-2-Clause
// File descriptors by purpose. The kernel hands out the lowest free number, so that a number says
// how many are in use: connections may have those below one mark, storage those below a higher
// one, and what is left stays for administration (control socket, portals, the saved file).
#pragma once

#include <stdbool.h>

enum fds_purpose { FDS_CONNECTIONS, FDS_STORAGE, FDS_PURPOSES };

// Opens what is closed of standard input, output and error, so that no file or socket gets its
// number and then what is printed, or is read from it: reading or writing there fails with EBADF.
// First in main().
void fds_fill_std(void);

// Raises the soft limit of open files to the hard one and sets the marks. Once, before threads
// start; without it there are no marks.
void fds_init(void);
unsigned fds_limit(void); // descriptors in all. Any thread.
// The first number that is not for this purpose. Any thread.
unsigned fds_mark(enum fds_purpose purpose);
// How many are in use below the lowest free one. Any thread; two system calls.
unsigned fds_in_use(void);
// Whether the next descriptor may be for this purpose. Any thread; two system calls.
bool fds_have_room(enum fds_purpose purpose);
