// SPDX-License-Identifier: BSD-2-Clause
// Sets values of the group `global` (global.h).
#pragma once

#include "cli/shell/shell.h"

// Whether the line sets values of the group: then the daemon cannot run it unchanged.
bool global_is_set(const struct line *l);
// Runs it: sends the daemon's part, then applies and saves the rest. If a value is invalid, nothing
// changes. 0 or a negative errno with text. Blocks.
int global_set(struct shell *s, const char *path, const struct line *l, struct err *e);
