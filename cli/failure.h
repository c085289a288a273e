// SPDX-License-Identifier: BSD-2-Clause
// What went wrong with a line: where in it, in what words, and what may have been meant.
#pragma once

#include "cli/shell.h"

// Where the line comes from.
struct origin {
	const char *name; // of a batch: "FILE:NUMBER: " stands before; NULL: none
	unsigned number;
	const char *text;  // the line; NULL: it is not known, or not to be shown again
	bool is_on_screen; // the line stands above, indent columns from the left
	unsigned indent;
};

// Tells e on stderr: with a caret under the word that is wrong, where one is; as an object of
// "code", "status", "text", "file", "line" and "column" where s->is_json. l: what was run, NULL:
// the line could not be parsed, and *at is where. Asks the daemon for names that are near. Returns
// status.
enum status failure_tell(struct shell *s, const struct origin *o, const struct line *l, size_t at,
			 enum status status, const struct err *e);

// What is wrong with a line that was refused with e, as far as the rows tell it: *ret_at is the
// column in bytes (SIZE_MAX: not known), *ret_meant a word that is near (for free(), NULL: none).
// class: of the node the line is for. Pure.
void failure_find(struct json_object *schema, const char *class, const struct line *l,
		  const struct err *e, size_t *ret_at, char **ret_meant);
