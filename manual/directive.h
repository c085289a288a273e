// SPDX-License-Identifier: BSD-2-Clause
// What a template may ask for: lists made from the rows that the programs themselves work by. One
// thread; everything blocks.
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

struct directive {
	const char *name;
	// Writes its lines to out. argument: what stands behind the name, "" if nothing. 0, or -1
	// when the rows cannot be had.
	int (*write)(FILE *out, const char *argument);
};
// Ends with a NULL name. The two roles do not go into one program: target.c and initiator.c each
// have a table of their own.
extern const struct directive directives[];

// flags.c: the flags of the program that argument begins with, for mdoc(7); for completion, on one
// line behind what argument goes on with and up to a quote; as zsh's _arguments and fish's complete
// take them.
int flags_mdoc(FILE *out, const char *argument);
int flags_words(FILE *out, const char *argument);
int flags_zsh(FILE *out, const char *argument);
int flags_fish(FILE *out, const char *argument);
// flags.c, for mdoc(7): the exit statuses of farblock.
int exit_statuses(FILE *out, const char *argument);
// tree.c, for mdoc(7): the shell's own commands, what every node knows, commands by kind of node,
// settings by kind of node and group.
int shell_commands_list(FILE *out, const char *argument);
int every_node_list(FILE *out, const char *argument);
int tree_commands(FILE *out, const char *argument);
int tree_settings(FILE *out, const char *argument);

// quote.c: text for a line of its own in mdoc(7).
void roff_text(FILE *out, const char *text);
// An argument of a macro: quoted.
void roff_word(FILE *out, const char *text);
// 'text' as shells take it; is_zsh: within a specification of _arguments.
void shell_quoted(FILE *out, const char *text, bool is_zsh);
