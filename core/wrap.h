// SPDX-License-Identifier: BSD-2-Clause
// Text for a reader at a terminal. One thread; writes to a stream.
#pragma once

#include <stdio.h>

// The columns of the terminal that out writes to, at least 20. 0: out writes to no terminal.
int wrap_width(FILE *out);
// Prints text and a newline from column `at` on; further lines begin at that column, too, and are
// broken at blanks before column width. 0: one line.
void wrap_print(FILE *out, const char *text, int at, int width);
