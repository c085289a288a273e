// SPDX-License-Identifier: BSD-2-Clause
// Reports a failed line: position, text, and a suggestion.
#pragma once

#include "cli/shell/shell.h"

// The origin of a line.
struct origin {
	const char *name; // of a batch: prefix "FILE:NUMBER: "; NULL: none
	unsigned number;
	const char *text;  // the line; NULL: unknown, or not to be repeated
	bool is_on_screen; // the line is shown above, indented by indent columns
	unsigned indent;
};

// Reports e on stderr, with a caret under the wrong word, if known; with s->is_json as an object of
// "code", "status", "text", "file", "line" and "column". l: the parsed line, NULL: it could not be
// parsed, at *at. Asks the daemon for similar names. Returns status.
enum status failure_tell(struct shell *s, const struct origin *o, const struct line *l, size_t at,
			 enum status status, const struct err *e);

// Where a line is wrong, and what may have been meant.
struct cause {
	size_t at;   // column in bytes, SIZE_MAX: unknown
	char *meant; // a similar word, for free(); NULL: none
};

// Locates the error of a line that was refused with e, by the rows. class: of the line's node.
// Pure.
void failure_find(struct json_object *schema, const char *class, const struct line *l,
		  const struct err *e, struct cause *ret);
