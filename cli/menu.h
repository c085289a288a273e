// SPDX-License-Identifier: BSD-2-Clause
// Candidates under the line.
#pragma once

#include <stdio.h>

#include "cli/complete.h"

// A few with their notes one below the other, many in columns, at most a hundred.
void menu_draw(FILE *out, const struct candidates *c, unsigned width, bool has_color);
