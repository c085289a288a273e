// SPDX-License-Identifier: BSD-2-Clause
// The saved file on disk: whole or not at all, through every crash. Control thread; blocks.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"

// How long a time lies at least between two backups of the older half (file_write()).
enum { FILE_BACKUP_INTERVAL_S = 60 };

// Reads the whole file, NUL-terminated, for free(). -ENOENT, -ENOLINK (a link to nothing) and other
// errnos with text.
int file_read(const char *path, char **ret, size_t *ret_len, struct err *e);

// Replaces path by len bytes of text: temporary file 0600 with O_EXCL in the same folder, fsync,
// rename, fsync of the folder. backups: of the daemon's own file, which is kept in backup/ beside
// it before, so many of what it was before its last changes, and as many older ones that lie
// FILE_BACKUP_INTERVAL_S apart; its folder is made (0700) if missing. FILE_ELSEWHERE: a copy in a
// place of the user's has none, a missing folder is -ENOENT and a link -EINVAL. FILE_NO_BACKUP: the
// daemon's own, which is not kept, while the backups there are stay as they are. On error path is
// what it was.
enum { FILE_ELSEWHERE = -1, FILE_NO_BACKUP = -2 };
int file_write(const char *path, const char *text, size_t len, int backups, struct err *e);

// The backup of path that many steps back; 1: the newest. False: there is none.
bool file_backup_at(const char *path, unsigned steps, char *ret, size_t size);

// Links a damaged file to PATH.damaged-<time of its last change>, so that it survives
// whatever comes; doing it twice is fine. ret: the new name.
int file_keep_aside(const char *path, char *ret, size_t size, struct err *e);

// ---- private_tmp.c ----
// code with text: path lies in a folder that only this service has and that goes with it, so that
// others cannot have meant it and nothing put there lasts.
int private_tmp_refuse(const char *path, int code, struct err *e);

// For tests: called before each step of file_write, by name; NULL (the default) is skipped.
extern void (*file_step_hook)(const char *step);
