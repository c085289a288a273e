// SPDX-License-Identifier: BSD-2-Clause
// Reads a whole file, and replaces one: complete or unchanged after any crash. Any thread; blocks
// on the file system, never on a FIFO or device.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"

enum { WHOLE_FILE_MAX = 1 << 30 }; // bytes

// Reads a regular file, NUL-terminated, for free(). -ENOENT, -ENOLINK (dangling link), -EFBIG and
// other errnos with text.
int whole_file_read(const char *path, char **ret, size_t *ret_len, struct err *e);

struct whole_file_ways {
	const char *suffix; // of the temporary file beside path; an existing one is removed
	bool may_be_link;   // path may be a symbolic link, which is replaced
	bool may_make;	    // creates a missing directory (0700), else -ENOENT
	void (*keep)(const char *path, const char *folder, void *arg); // before the old file is
								       // replaced; NULL: nothing
	void *arg;
};

// Replaces path with len bytes of text: temporary file 0600 with O_EXCL in the same directory,
// fsync, rename, fsync of the directory. -EINVAL, -EISDIR: not a regular file; -ENAMETOOLONG and
// errnos of the calls. On error path is unchanged. 1 with text in e: replaced, but the directory
// cannot be synced.
int whole_file_replace(const char *path, const char *text, size_t len,
		       const struct whole_file_ways *ways, struct err *e);

// The directory of path: "." if path has none. ret: of PATH_MAX bytes.
void whole_file_folder(const char *path, char *ret);

// For tests: called with the name of each step of whole_file_replace(), before it; NULL is skipped.
extern void (*file_step_hook)(const char *step);
