// SPDX-License-Identifier: BSD-2-Clause
// Draws the tree of ls from the rows of tree.ls. Ten thousand LUNs are fifty thousand rows: they
// are drawn from the received text, without an object for each. Pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/shell/show.h"
#include "core/err.h"

// A line of the text: a blank per level; '+' healthy, '-' not, '=' neither; '|' if a sibling
// follows, else '.'; name/serial/summary. The root's name is empty; serials are present if
// requested and available.
struct tree_part {
	const char *at; // in the rows, not terminated
	size_t len;
};
struct tree_row {
	unsigned depth;
	char health;
	bool has_later;
	struct tree_part name, serial, summary;
};

// Parses the row at *at and advances *at. 1, 0 at the end, -EPROTO: not a row.
int tree_row_next(const char **at, struct tree_row *ret);

// Draws the rows, one line each in the width of the terminal; with path, the absolute path of the
// first one (NULL: as a tree), only paths and summaries. -EPROTO with text: an invalid row, stops
// drawing; -ENOMEM. Omits rows deeper than 63.
int tree_draw(const struct look *l, const char *rows, const char *path, struct err *e);
