// SPDX-License-Identifier: BSD-2-Clause
// The tree as ls draws it, from the rows of tree.ls. Ten thousand LUNs are fifty thousand rows:
// they are drawn from the text as it came, without an object for each. Pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/show.h"
#include "core/err.h"

// One line of the text: as many blanks as the node lies deep; '+' healthy, '-' not, '=' neither;
// '|' if a sibling follows, else '.'; name/serial/summary. The root's name is empty, serials are
// there where they were asked for and the node has one.
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

// The row at *at, which moves behind it. 1, 0 at the end, -EPROTO: this is no row.
int tree_row_next(const char **at, struct tree_row *ret);

// Draws them, a line each as wide as the terminal; with path (NULL: not), the absolute path of the
// first one, as paths and summaries alone. -EPROTO with text, and nothing more drawn, where there
// is no row, -ENOMEM. Rows deeper than 63 are left out.
int tree_draw(const struct look *l, const char *rows, const char *path, struct err *e);
