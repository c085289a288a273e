// SPDX-License-Identifier: BSD-2-Clause
// Paths in the kernel's lists (/proc/self/mountinfo, /proc/swaps): a space, tab, newline, backslash
// and
// '#' are three octal digits after a backslash. Any thread.
#pragma once

// Undoes them in place. What is no such number stays as it is.
void escapes_undo(char *s);
