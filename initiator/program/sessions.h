// SPDX-License-Identifier: BSD-2-Clause
// The text of sessions: the print levels of iscsiadm -m session. The program's thread.
#pragma once

struct json_object;

enum { SESSIONS_LEVEL_MAX = 3 };

// Prints an array of sessions, ordered by target, on standard output. Each has the keys of
// scsi_session_describe() and those that sessions.c adds.
void sessions_print(struct json_object *sessions, unsigned level);
