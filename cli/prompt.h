// SPDX-License-Identifier: BSD-2-Clause
// The prompt's path. Pure.
#pragma once

#include <stddef.h>

// path, or if it has more than most characters (0: any number) its beginning and its end with "..."
// between, as much of both as most has room for. For free(); NULL: no memory.
char *prompt_path(const char *path, size_t most);
