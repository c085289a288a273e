// SPDX-License-Identifier: BSD-2-Clause
// What farblock-initiator says of itself. The program's thread.
#pragma once

#include <stdio.h>

#include "initiator/tool/tool.h"

// all: the commands, count of them.
void help_usage(const struct tool_verb *all, unsigned count, FILE *out);
// Whether an option is one of the session: all commands that log in have it.
bool help_is_of_session(const struct option_row *r);
// On standard output.
void help_verb(const struct tool_verb *v);
// The text of an unknown command, with what may have been meant.
int help_unknown(const char *name, const struct tool_verb *all, unsigned count, struct err *e);
// The text of arguments that are missing: count have been given.
int help_missing(const struct tool_verb *v, unsigned count, struct err *e);
