// SPDX-License-Identifier: BSD-2-Clause
// The text of a state file: words and decimal numbers. The reader trusts nothing.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// The unread rest.
struct state_text {
	const char *p, *end;
};

// Skips word. False: the text continues otherwise.
bool state_text_take(struct state_text *t, const char *word);
// Reads a number up to max. False: no number, or a larger one.
bool state_text_number(struct state_text *t, uint64_t max, uint64_t *ret);

// Closes f, of open_memstream(&text, ...), and returns text; free(). NULL: no memory.
char *state_text_close(FILE *f, char **text);
