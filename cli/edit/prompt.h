// SPDX-License-Identifier: BSD-2-Clause
// The prompt's path. Pure.
#pragma once

#include <stddef.h>

// path or, if it has more than most characters (0: no limit), its beginning and its end with "..."
// between, in most characters. For free(); NULL: no memory.
char *prompt_path(const char *path, size_t most);
