// SPDX-License-Identifier: BSD-2-Clause
// Command lines as table rows: parsing, --help, manual pages and completion come from them. Pure
// functions; one thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/err.h"

struct option_row {
	char letter;			    // 0: none
	const char *name, *argument, *help; // argument NULL: takes none
	size_t at; // the field in the program's struct: bool of a flag, const char * of others
	// Stores the argument (NULL: a flag) in place of that. 0, or a negative errno with text.
	int (*on)(void *to, const struct option_row *row, const char *text, struct err *e);
	unsigned verbs;	   // of the subcommands that know it, bits; 0: all
	uint64_t lo, hi;   // for on
	const char *words; // values to complete, separated by blanks; NULL: none
};

enum option_fault {
	OPTION_UNKNOWN,
	OPTION_NEEDS_VALUE,
	OPTION_TAKES_NONE, // --flag=value
};

// How a program reads its command line.
struct option_program {
	const struct option_row *rows; // ends with a NULL name
	unsigned verb;		       // the subcommand's bit, 0: rows of all
	bool takes_short_names;	       // also the beginning of a name, if that is unique
	// A word that is no option. NULL: it ends the options; otherwise they may follow it.
	int (*argument)(void *to, const char *word, struct err *e);
	// Fills e with the program's words for a fault; row: NULL if unknown. A negative errno.
	int (*refuse)(enum option_fault fault, const struct option_row *row, const char *word,
		      struct err *e);
	void *to;
};

// Reads words, without the program's name: "--name value", "--name=value", "-x", "-xvalue", several
// letters in a word; "--" ends the options. Returns the number of words up to the first that is no
// option, or to the end; or a negative errno with text.
int options_read(const struct option_program *p, int count, char **words, struct err *e);

// The rows as lines, "--name ARGUMENT" in that many columns; has_letters: room for "-x, " in each.
// On a terminal they are broken to its width.
void options_help(const struct option_row *rows, unsigned verb, int columns, bool has_letters,
		  FILE *out);
bool option_is_of(const struct option_row *row, unsigned verb);
