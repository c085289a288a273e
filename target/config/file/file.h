// SPDX-License-Identifier: BSD-2-Clause
// The saved file on disk: complete or unchanged after any crash. Control thread; blocks.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"

// Minimum interval between two backups of the older half (file_write()).
enum { FILE_BACKUP_INTERVAL_S = 60 };

// whole_file_read() of a file for the daemon: the texts say what of the service keeps it from
// being read.
int file_read(const char *path, char **ret, size_t *ret_len, struct err *e);

// Replaces path with len bytes of text (whole_file_replace()). backups: the old
// version is kept in backup/ beside it: this many for the last changes, and as many older
// ones at least FILE_BACKUP_INTERVAL_S apart; creates its directory (0700) if missing.
// FILE_NO_BACKUP: without a new backup; existing backups stay. On error path is unchanged.
enum { FILE_NO_BACKUP = -1 };
int file_write(const char *path, const char *text, size_t len, int backups, struct err *e);

// The backup of path this many steps back; 1: the newest. False: no such backup.
bool file_backup_at(const char *path, unsigned steps, char *ret, size_t size);

// Links a damaged file to PATH.damaged-<time of its last change>, so that it is kept; repeating
// this is fine. ret: the new name.
int file_keep_aside(const char *path, char *ret, size_t size, struct err *e);

// ---- private_tmp.c ----
// Returns code with text if path is in a directory private to this service: other programs do not
// see it, and its files are removed with the service.
int private_tmp_refuse(const char *path, int code, struct err *e);
