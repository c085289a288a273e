// SPDX-License-Identifier: BSD-2-Clause
// Values that are neither shown nor kept: name=- asks for them.
#pragma once

#include "cli/shell.h"

// Replaces the value "-" of every secret setting of the line: by what is typed unseen at the
// terminal that standard input is, or by the next line of what is read otherwise. 0, -EINTR on
// Ctrl-C, or another negative errno with text. Blocks.
int secrets_ask(struct shell *s, struct line *l, struct err *e);
