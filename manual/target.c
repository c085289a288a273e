// SPDX-License-Identifier: BSD-2-Clause
// Directives of the target's pages.
#include "manual/directive.h"

const struct directive directives[] = {
	{"flags",		   flags_mdoc },
	{ "flags-words",			 flags_words },
	{ "flags-zsh",flags_zsh },
	{ "flags-fish",		flags_fish },
	{ "exit-statuses",		   exit_statuses },
	{ "shell-commands",  shell_commands_list },
	{ "every-node",	every_node_list },
	{ "tree-commands",		   tree_commands },
	{ "tree-settings",tree_settings },
	{ 0	    },
};
