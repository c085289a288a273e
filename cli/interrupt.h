// SPDX-License-Identifier: BSD-2-Clause
// Ctrl-C and a window that changes its size, for a shell that goes on: both signals are blocked
// but while something is waited for. One thread.
#pragma once

#include <stdbool.h>

// Without it Ctrl-C ends the program, as it should where nobody sits at a prompt.
void interrupt_catch(void);
// Waits until fd can be read. 1: it can, or it has ended; 0: timeout_ms (-1: none) are over;
// -EINTR: Ctrl-C, -ERESTART: the window has another size.
int interrupt_wait(int fd, int timeout_ms);
// The same for keys: a signal that has come goes before keys that can be read.
int interrupt_wait_key(int fd, int timeout_ms);
// Leaves -EINTR or -ERESTART for the next interrupt_wait(): the caller is not who it is meant for.
void interrupt_again(int r);
