// SPDX-License-Identifier: BSD-2-Clause
// A loop device of the kernel. The program's thread; all may block while the file's filesystem
// serves.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"

enum { LOOP_PATH_MAX = 32 };

// Makes /dev/loopN of a file: with direct I/O if the kernel can, with its partitions. ret: N.
// Negative with a text.
int loop_new(int *ret, const char *file, uint32_t block_size, bool is_read_only, struct err *e);
void loop_path(char ret[LOOP_PATH_MAX], int number);
// Asks for the file's size again.
void loop_resize(int number, const char *file);
// The first one that is made of this file; -1: none.
int loop_find(const char *file);
// Clears it and waits until it is not of this file any more, at most that long. -EBUSY with a text:
// it is open, and stays; is_forced: until its last user leaves it.
int loop_clear(int number, const char *file, unsigned seconds, bool is_forced, struct err *e);
