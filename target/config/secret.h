// SPDX-License-Identifier: BSD-2-Clause
// Secrets in separate files: the saved file and all output contain only their paths. Private to
// target/config; control thread, blocks.
#pragma once

#include "target/config/model.h"

// Reads the first line of a file that belongs to root or the daemon's user and that only its owner
// can read. -EACCES: others can read it; -EINVAL: not an absolute path, not a regular file, empty,
// longer than 255 bytes; other errnos of open(2). out is then empty.
int secret_read(const char *file, char out[256], struct err *e);

// The credentials of logins: those of the group, with the current content of its files. On error
// neither direction has a password, so that no login succeeds.
int secret_fill(const struct auth_group *a, struct view_auth *out, struct err *e);
