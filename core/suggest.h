// SPDX-License-Identifier: BSD-2-Clause
// Suggestions for mistyped words. Pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// The number of letters to insert, delete, change or swap with a neighbour to turn one word into
// the other; at most 255. Compares only the first 64 bytes.
unsigned distance(const char *a, const char *b);
// Whether b may be a mistyped a: one or two letters in a long enough word.
bool is_near(const char *a, const char *b);

// The nearest word that is_near() or begins with word. Call suggest_add() for each; the words are
// borrowed.
struct suggest {
	const char *word, *best; // best: NULL none
	unsigned distance;
};
void suggest_add(struct suggest *s, const char *candidate);
