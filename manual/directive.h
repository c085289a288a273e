// SPDX-License-Identifier: BSD-2-Clause
// Directives of templates: lists generated from the rows of the programs. One thread; everything
// blocks.
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

struct directive {
	const char *name;
	// Writes its lines to out. argument: the text after the name, or "". 0, or -1: the rows are
	// not available.
	int (*write)(FILE *out, const char *argument);
};
// Ends with a NULL name. The two roles cannot be linked into one program: target.c and initiator.c
// each have a table.
extern const struct directive directives[];

// flags.c: the flags of the program at the start of argument, for mdoc(7); for completion, on one
// line after the rest of argument and up to a quote; in the form of zsh's _arguments and fish's
// complete.
int flags_mdoc(FILE *out, const char *argument);
int flags_words(FILE *out, const char *argument);
int flags_zsh(FILE *out, const char *argument);
int flags_fish(FILE *out, const char *argument);
// flags.c, for mdoc(7): the exit statuses of farblock.
int exit_statuses(FILE *out, const char *argument);
// tree.c, for mdoc(7): the shell's own commands, commands of every node, commands by kind of node,
// settings by kind of node and group.
int shell_commands_list(FILE *out, const char *argument);
int every_node_list(FILE *out, const char *argument);
int tree_commands(FILE *out, const char *argument);
int tree_settings(FILE *out, const char *argument);

// quote.c: text for a separate line in mdoc(7).
void roff_text(FILE *out, const char *text);
// An argument of a macro: quoted.
void roff_word(FILE *out, const char *text);
// 'text', quoted for shells; is_zsh: within a specification of _arguments.
void shell_quoted(FILE *out, const char *text, bool is_zsh);
