// SPDX-License-Identifier: BSD-2-Clause
// What somebody may have meant. Pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// How many letters are to be put in, left out, changed or swapped with their neighbour to make one
// of the other; at most 255. Only the first 64 bytes of each are looked at.
unsigned distance(const char *a, const char *b);
// Whether a slip of the finger may have made b of a: a letter or two in a word long enough.
bool is_near(const char *a, const char *b);

// The nearest of words that is_near, or that begins with word. suggest_add() for each; the words
// are borrowed.
struct suggest {
	const char *word, *best; // best: NULL none
	unsigned distance;
};
void suggest_add(struct suggest *s, const char *candidate);
