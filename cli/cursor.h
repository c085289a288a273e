// SPDX-License-Identifier: BSD-2-Clause
// Where in a line somebody is typing: what is whole, and the word at the end that is not. Pure
// functions.
#pragma once

#include "cli/grammar.h"

struct cursor {
	struct line line; // the command that is being typed, of its whole words
	struct word word; // the one that is not whole yet; its text is "" where none has begun
	const char *name; // of "name=value", NULL: positional
	char *name_text;
	const char *value; // the word's text behind the '='
	unsigned position; // which positional value the word is, from 0
};

// text up to where the cursor is. False: nothing can be said there (a comment, a line that is
// refused already, no memory). End with cursor_done() where it is true.
bool cursor_find(struct cursor *ret, const char *text);
void cursor_done(struct cursor *c);

// text as a word of a line that means just that, with backslashes where they are needed. For
// free(); NULL: no memory.
char *word_quote(const char *text);
