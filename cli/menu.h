// SPDX-License-Identifier: BSD-2-Clause
// Candidates under the line.
#pragma once

#include "cli/complete.h"
#include "cli/show.h"

// A few with their notes one below the other, many in columns unless the preference
// completions_in_columns says no, at most a hundred. width: of the line below which they stand.
void menu_draw(const struct look *l, const struct candidates *c, unsigned width);
