// SPDX-License-Identifier: BSD-2-Clause
// Exit statuses of farblock-initiator: those of iscsiadm(8), so that scripts and units written for
// it keep their meaning. 2 is a wrong command line, as of most programs, where iscsiadm has 7. Pure
// functions, any thread.
#pragma once

#include "core/err.h"

enum tool_status {
	TOOL_OK = 0,
	TOOL_FAILED = 1,
	TOOL_USAGE = 2,
	// Of the commands on sessions, attachments and discovery alone.
	TOOL_NO_MEMORY = 3,
	TOOL_TRANSPORT = 4,
	TOOL_LOGIN = 5,
	TOOL_RECORD = 6,
	TOOL_TIMEOUT = 8,
	TOOL_NO_WAY = 12,
	TOOL_PERMISSION = 13,
	TOOL_LOGGED_IN = 15,
	TOOL_LOGIN_FATAL = 19,
	TOOL_NOT_FOUND = 21,
	TOOL_AUTHORIZATION = 24,
	TOOL_BUSY = 28,
};

struct tool_status_row {
	int status;
	const char *meaning;
};
// Ends with a meaning of NULL; the help and the manual are printed from it.
extern const struct tool_status_row tool_status_rows[];

// That of an error of a login, an attachment or discovery; TOOL_FAILED for one that has no own.
int tool_status_of(const struct err *e);
