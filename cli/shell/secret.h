// SPDX-License-Identifier: BSD-2-Clause
// Values that are neither shown nor stored: name=- prompts for them.
#pragma once

#include "cli/shell/shell.h"

// Replaces the value "-" of every secret setting of the line: by hidden input if standard input is
// a terminal, else by the next line of input. 0, -EINTR on Ctrl-C, or another negative errno with
// text. Blocks.
int secrets_ask(struct shell *s, struct line *l, struct err *e);
