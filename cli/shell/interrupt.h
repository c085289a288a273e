// SPDX-License-Identifier: BSD-2-Clause
// Ctrl-C and changes of the window's size in an interactive shell: both signals are blocked except
// during waits. One thread.
#pragma once

#include <stdbool.h>

// Without it Ctrl-C ends the program, as it should without a prompt.
void interrupt_catch(void);
// Waits until fd is readable. 1: readable or at its end; 0: timeout_ms (-1: none) have passed;
// -EINTR: Ctrl-C; -ERESTART: the window's size has changed.
int interrupt_wait(int fd, int timeout_ms);
// The same for keys: a signal that has come goes before keys that can be read.
int interrupt_wait_key(int fd, int timeout_ms);
// Returns -EINTR or -ERESTART to the next interrupt_wait(): it is not meant for the caller.
void interrupt_again(int r);
