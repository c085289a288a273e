// SPDX-License-Identifier: BSD-2-Clause
// A process that a command starts, and what the command hears of it: one text through a pipe. The
// program's thread; no other may run.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include "core/err.h"
#include "initiator/holder/holder.h"

struct child {
	pid_t pid;
	int fd;			      // readable when it has something to say
	char text[HOLDER_ANSWER_MAX]; // "": it ended without one
};

// Forks. The child calls run with the pipe's end and exits with what it returns. SIGINT, SIGTERM
// and SIGHUP are blocked from now on, in the child too, so that one between two waits is not
// missed; an ignored SIGHUP stays ignored. Errors with a text: no child.
int child_start(struct child *c, int (*run)(void *arg, int fd), void *arg, struct err *e);
// Blocks them before the first child.
void child_catch_signals(void);
// Waits until the child has closed its end; fills text. -EINTR: one of those signals came.
int child_hear(struct child *c);
// The same once fd is readable; no signal ends it.
void child_read(struct child *c);
// In a child that wants the signals as they are by default.
void child_unblock_signals(void);
// The exit status after a signal, 128 and its number; 0: none came.
int child_interrupted(void);
// Waits so many milliseconds, or until one of those signals, which ends the wait with -EINTR.
int child_pause(unsigned ms);
// Waits for its end.
void child_wait(const struct child *c);
// poll(), which those signals end with -EINTR. ms below 0: without a limit.
int child_poll(struct pollfd *fds, unsigned count, int ms);
// Which of those signals has come, and forgets it; 0: none.
int child_take_signal(void);
// From now on this process and its children ignore SIGHUP.
void child_ignore_hangup(void);
