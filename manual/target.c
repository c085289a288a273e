// SPDX-License-Identifier: BSD-2-Clause
// What pages of the target's side may ask for.
#include "manual/directive.h"

const struct directive directives[] = {
	{"daemon-flags",	  daemon_flags },
	{ "daemon-words",		  daemon_words },
	{ "daemon-zsh",daemon_zsh },
	{ "daemon-fish",	 daemon_fish },
	{ "shell-flags",		 shell_flags },
	{ "shell-words",	 shell_words },
	{ "shell-zsh",    shell_zsh },
	{ "shell-fish",		shell_fish },
	{ "shell-commands",	    shell_commands_list },
	{ "every-node",	every_node_list },
	{ "tree-commands",		   tree_commands },
	{ "tree-settings",tree_settings },
	{ 0},
};
