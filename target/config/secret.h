// SPDX-License-Identifier: BSD-2-Clause
// Secrets that lie in files of their own: the saved file, and what is shown, have their paths only.
// Private to target/config; control thread, blocks.
#pragma once

#include "target/config/model.h"

// Reads the first line of a file that only its owner can read, and that is root's or the daemon's.
// -EACCES: others could; -EINVAL: no whole path, not a regular file, nothing in it, longer than 255
// bytes; other errnos of open(2). out is empty then.
int secret_read(const char *file, char out[256], struct err *e);

// What logins have to prove: the group's credentials, with what its files hold now. On error
// neither direction has a password, so that nobody proves anything.
int secret_fill(const struct auth_group *a, struct view_auth *out, struct err *e);
