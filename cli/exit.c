// SPDX-License-Identifier: BSD-2-Clause
// exit and quit.
#include "cli/shell/command.h"

static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	s->wants_exit = true;
	return 0;
}

const struct shell_command command_exit = { "exit", NULL, "Leave the shell.", run };
const struct shell_command command_quit = { "quit", NULL, "Leave the shell.", run };
