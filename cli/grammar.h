// SPDX-License-Identifier: BSD-2-Clause
// What a user types: [PATH] COMMAND [value ...] [name=value ...], several of them with ; between.
// Pure functions.
//
// Words are separated by blanks. 'single quotes' keep everything, "double quotes" keep
// everything but \" and \\, a backslash keeps the next character. A word that begins with # begins
// a comment. A ; ends a command where a blank or the end of the line follows; one in the middle of
// a word is refused unless it is quoted.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"

enum { LINE_WORDS_MAX = 64, LINE_COMMANDS_MAX = 64 };

// A word as it stands in a line.
struct word {
	char *text;	   // without its quotes; for free()
	size_t start, end; // where it stands, in bytes
	size_t equals;	   // index into text of the first unquoted '=', or SIZE_MAX
	bool is_quoted;	   // some of it
	char quote;	   // that is open at its end, 0: none
	bool is_open;	   // it ends with a \ that nothing stands behind
};

enum token {
	TOKEN_END, // of the line; a comment is nothing
	TOKEN_WORD,
	TOKEN_SEMICOLON,
};

// Takes what stands at text + *at and moves *at behind it. An open quote is no error here. A
// negative errno with *at where it is: -EINVAL for a ; inside a word, -ENOMEM.
int token_next(const char *text, size_t *at, struct word *ret, struct err *e);

struct line_value {
	char *name; // NULL: positional
	char *text;
	size_t at; // in the text that was parsed, of its first byte
};

struct line {
	char *path;    // as typed; NULL: none
	char *command; // NULL: none (a path alone goes there)
	size_t path_at, command_at;
	unsigned count;
	struct line_value values[LINE_WORDS_MAX];
};

// The commands of a line.
struct script {
	unsigned count;
	struct line *lines;
};

// The whole line or nothing. -EINVAL with text, *ret_at where it is wrong, in bytes: an open quote,
// a ; in a word, a byte that is no UTF-8 [RFC 3629], too many words or commands, a name without a
// command. An empty line and a comment, which may hold anything, have no commands. End with
// script_done also on error.
int script_parse(struct script *ret, const char *text, size_t *ret_at, struct err *e);
void script_done(struct script *s);

// One command from words that a shell has split already; columns are those of the words with a
// blank between. Errors as above. End with line_done also on error.
int line_from_words(struct line *ret, int count, char **words, size_t *ret_at, struct err *e);
void line_done(struct line *l);

// The n-th value without a name, or NULL. The line's.
const char *line_positional(const struct line *l, unsigned n);
// The value of that name, or else line_positional(). The line's.
const char *line_value(const struct line *l, const char *name, unsigned position);

// base and path joined: absolute paths stand alone, "." and ".." are worked out. For free();
// NULL: no memory.
char *path_join(const char *base, const char *path);
// Whether an unquoted first word is a path: something with a slash, "." "..", "*", "@bookmark".
bool is_path_word(const struct word *w);
