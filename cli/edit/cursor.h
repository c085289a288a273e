// SPDX-License-Identifier: BSD-2-Clause
// The cursor in a line: the complete words, and the incomplete word at the end. Pure functions.
#pragma once

#include "cli/shell/grammar.h"

struct cursor {
	struct line line; // the current command, of its complete words
	struct word word; // the incomplete word; its text is "" if none has begun
	const char *name; // of "name=value", NULL: positional
	char *name_text;
	const char *value; // the word's text after the '='
	unsigned position; // index of the word among positional values, from 0
};

// text up to the cursor. False: no completion there (a comment, an invalid line, no memory). If
// true, end with cursor_done().
bool cursor_find(struct cursor *ret, const char *text);
void cursor_done(struct cursor *c);

// Quotes text as a word of a line, with backslashes where needed. For free(); NULL: no memory.
char *word_quote(const char *text);
