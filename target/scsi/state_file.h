// SPDX-License-Identifier: BSD-2-Clause
// Small state files (APTPL, ALUA metadata): replaced completely and durably, or not at all. A file
// ends with a line with the SHA-256 of its text, to detect damage.
#pragma once

#include <stddef.h>

#include "core/err.h"

// Replaces <dir>/<sub>/<name> with text and a checksum line: temporary file 0600 in the 0700
// directory, fsync, rename, fsync of the directory. A crash leaves either the old or the new file.
// name consists of letters, digits, '-', '_' and '.'. Blocks: control thread or offload.
int state_file_write(const char *dir, const char *sub, const char *name, const char *text,
		     size_t len, struct err *e);

// Removes it durably; no error if it does not exist. Blocks.
int state_file_remove(const char *dir, const char *sub, const char *name, struct err *e);

// Reads it back without the checksum line: *ret (NUL-terminated, free()) and *ret_len.
// -ENOENT; -EBADMSG damaged or larger than 4 MiB. Blocks.
int state_file_read(char **ret, size_t *ret_len, const char *dir, const char *sub, const char *name,
		    struct err *e);

// Renames a damaged file to <name>.damaged, for inspection. Blocks.
void state_file_set_aside(const char *dir, const char *sub, const char *name);

// The check of state_file_read() on bytes in memory: the length of the text before a valid checksum
// line, or -EBADMSG. Pure.
long state_file_verify(const char *bytes, size_t len);
