// SPDX-License-Identifier: BSD-2-Clause
// Shows candidates below the line.
#pragma once

#include "cli/edit/complete.h"
#include "cli/shell/show.h"

// A few candidates one per line with notes, many in columns unless completions_in_columns is false;
// at most a hundred. width: of the line above.
void menu_draw(const struct look *l, const struct candidates *c, unsigned width);
