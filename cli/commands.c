// SPDX-License-Identifier: BSD-2-Clause
// The table of the shell's own commands.
#include <string.h>

#include "cli/shell/command.h"

const struct shell_command *const shell_commands[] = {
	&command_ls,
	&command_cd,
	&command_pwd,
	&command_get,
	&command_bookmarks,
	&command_doctor,
	&command_export,
	&command_help,
	&command_exit,
	&command_quit,
	&command_sessions,
	&command_session,
	&command_top,
	&command_explain,
	&command_boot_info,
	&command_boot_check,
	NULL,
};
