// SPDX-License-Identifier: BSD-2-Clause
// The line a user types: [PATH] COMMAND [value ...] [name=value ...]. Pure functions.
//
// Words are separated by blanks. 'single quotes' keep everything, "double quotes" keep
// everything but \" and \\, a backslash keeps the next character. A line that begins with #
// is a comment.
#pragma once

#include <stdbool.h>

#include "core/err.h"

enum { LINE_WORDS_MAX = 64 };

struct line_value {
	char *name; // NULL: positional
	char *text;
};

struct line {
	char *path;    // as typed; NULL: none
	char *command; // NULL: none (a path alone goes there)
	unsigned count;
	struct line_value values[LINE_WORDS_MAX];
};

// -EINVAL with text: an open quote, too many words, a name without a command. An empty line
// and a comment give neither path nor command. End with line_done also on error.
int line_parse(struct line *ret, const char *text, struct err *e);
// The same from words that a shell has split already.
int line_from_words(struct line *ret, int count, char **words, struct err *e);
void line_done(struct line *l);

// The n-th value without a name, or NULL. The line's.
const char *line_positional(const struct line *l, unsigned n);
// The value of that name, or else line_positional(). The line's.
const char *line_value(const struct line *l, const char *name, unsigned position);

// base and path joined: absolute paths stand alone, "." and ".." are worked out. For free();
// NULL: no memory.
char *path_join(const char *base, const char *path);
