// SPDX-License-Identifier: BSD-2-Clause
// Parts of login: what a target has, and records of targets. The program's thread; may block.
#pragma once

#include "initiator/tool/tool.h"

#define RECORD_DIR "/etc/farblock-initiator/login.d"

enum { LOGIN_DISKS_MAX = 1024 };

// luns_child.c: the disks behind the URLs, which have no LUN, by a session of another process,
// since the processes of attachments must not be forked from one with threads; from: see
// attach_disk(). ret_target: the name of the target. TOOL_OK, or an exit status after printing the
// error.
struct entry;
int login_disks(struct tool *t, const struct entry *from, uint16_t ret[LOGIN_DISKS_MAX],
		unsigned *ret_count, char ret_target[TOOL_TARGET_MAX]);

// The same without printing the error, which is in e unless the status is that of a signal;
// ret_is_asked: the URLs and options were fine.
int login_try_disks(struct tool *t, uint16_t ret[LOGIN_DISKS_MAX], unsigned *ret_count,
		    char ret_target[TOOL_TARGET_MAX], bool *ret_is_asked, struct err *e);

// login_stay.c: runs once, which logs in, and again whenever a process of a disk has died or the
// login has failed, until SIGTERM or SIGINT; then logs out. ret_login: what was logged in, NULL:
// all. An exit status after printing the error.
int login_stay(struct tool *t, int (*once)(struct tool *t, const char **ret_login));

// record.c: writes the URLs and options of t as the record DIR/NAME.conf, with mode 0600, whole
// at any moment; of several at once the last one stays. Negative with a text.
int record_save(const struct tool *t, const char *dir, const char *name, struct err *e);
