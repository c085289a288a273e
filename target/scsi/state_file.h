// SPDX-License-Identifier: BSD-2-Clause
// Small state files (APTPL, ALUA metadata): replaced whole and durably, or not at all. A file
// ends in a line with the SHA-256 of all before it, so that damage is seen.
#pragma once

#include <stddef.h>

#include "core/err.h"

// Replaces <dir>/<sub>/<name> by text, to which the checksum line is added: temporary file
// 0600 in the 0700 folder, fsync, rename, fsync of the folder. Whoever is killed in between
// leaves the old or the new file. name must be of letters, digits, '-', '_' and '.'. Blocks:
// control thread or offload.
int state_file_write(const char *dir, const char *sub, const char *name, const char *text,
		     size_t len, struct err *e);

// Removes it durably; no error if there is none. Blocks.
int state_file_remove(const char *dir, const char *sub, const char *name, struct err *e);

// Reads it back without the checksum line: *ret (NUL-terminated, free()) and *ret_len.
// -ENOENT there is none; -EBADMSG damaged or larger than 4 MiB. Blocks.
int state_file_read(char **ret, size_t *ret_len, const char *dir, const char *sub, const char *name,
		    struct err *e);

// Renames a damaged file to <name>.damaged, for a person to look at. Blocks.
void state_file_set_aside(const char *dir, const char *sub, const char *name);

// The check of state_file_read() on bytes in memory: the length of the text in front of a
// valid checksum line, or -EBADMSG. Pure.
long state_file_verify(const char *bytes, size_t len);
