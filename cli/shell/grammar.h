// SPDX-License-Identifier: BSD-2-Clause
// The syntax of lines: [PATH] COMMAND [value ...] [name=value ...], several of them separated by ;.
// Pure functions.
//
// Words are separated by blanks. 'single quotes' keep everything, "double quotes" keep everything
// except \" and \\, a backslash keeps the next character. A word that begins with # begins a
// comment. A ; ends a command if a blank or the end of the line follows; within a word it is
// refused unless quoted.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"

enum { LINE_WORDS_MAX = 64, LINE_COMMANDS_MAX = 64 };

// A word of a line.
struct word {
	char *text;	   // without its quotes; for free()
	size_t start, end; // position in bytes
	size_t equals;	   // index into text of the first unquoted '=', or SIZE_MAX
	bool is_quoted;	   // partly quoted
	char quote;	   // the open quote at its end, 0: none
	bool is_open;	   // its final \ is unfinished
};

enum token {
	TOKEN_END, // of the line or a comment
	TOKEN_WORD,
	TOKEN_SEMICOLON,
};

// Parses the word at text + *at and advances *at past it. An open quote is not an error
// here. A negative errno with its position in *at: -EINVAL for a ; within a word; -ENOMEM.
int token_next(const char *text, size_t *at, struct word *ret, struct err *e);

struct line_value {
	char *name; // NULL: positional
	char *text;
	size_t at; // position of its first byte in the parsed text
};

struct line {
	char *path;    // as typed; NULL: none
	char *command; // NULL: none (a path alone is a cd)
	size_t path_at, command_at;
	unsigned count;
	struct line_value values[LINE_WORDS_MAX];
};

// The commands of a line.
struct script {
	unsigned count;
	struct line *lines;
};

// Parses a complete line. -EINVAL with text and its position in bytes in *ret_at: an open
// quote, a ; in a word, invalid UTF-8 [RFC 3629], too many words or commands, a name
// without a command. An empty line and a comment, which may contain anything, have no
// commands. End with script_done(), on errors too.
int script_parse(struct script *ret, const char *text, size_t *ret_at, struct err *e);
void script_done(struct script *s);

// One command from words that a shell has split; columns are those of the words joined with
// blanks. Errors as above. End with line_done(), on errors too.
int line_from_words(struct line *ret, int count, char **words, size_t *ret_at, struct err *e);
void line_done(struct line *l);

// -EBADRQC with text: two values of the same name, of which the first would be lost.
int line_refuse_twice(const struct line *l, struct err *e);

// The n-th positional value, or NULL. Borrowed from the line.
const char *line_positional(const struct line *l, unsigned n);
// The value of this name, or NULL. Borrowed from the line.
const char *line_named(const struct line *l, const char *name);
// The value of this name, else line_positional(). Borrowed from the line.
const char *line_value(const struct line *l, const char *name, unsigned position);
// If e is about the parameter of this name of a request, and the line has it by position: e is
// about that position.
void line_place(const struct line *l, const char *name, unsigned position, struct err *e);

// Joins base and path; an absolute path replaces base, "." and ".." are resolved. For
// free(); NULL: no memory.
char *path_join(const char *base, const char *path);
// The absolute path of a word: relative to base, or to the path of a bookmark, "@NAME/...", which
// bookmark(arg, NAME) returns for free(). For free(); NULL: no such bookmark, no memory.
char *path_of_word(const char *base, const char *word,
		   char *(*bookmark)(void *arg, const char *name), void *arg);
