// SPDX-License-Identifier: BSD-2-Clause
// A pause that ends early with Ctrl-C.
#include "cli/top/wait.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

static volatile sig_atomic_t was_interrupted;

static void on_interrupt(int number)
{
	was_interrupted = 1;
}

int wait_seconds(double seconds, struct err *e)
{
	struct sigaction act = { .sa_handler = on_interrupt }, old;
	sigset_t block, before;
	struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };
	was_interrupted = 0;
	sigaction(SIGINT, &act, &old);
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigprocmask(SIG_BLOCK, &block, &before);
	sigset_t open = before; // only during the wait, so that none is lost before it
	sigdelset(&open, SIGINT);
	ppoll(NULL, 0, &t, &open);
	sigprocmask(SIG_SETMASK, &before, NULL);
	sigaction(SIGINT, &old, NULL);
	return was_interrupted ? err_set(e, -EINTR, "interrupted") : 0;
}
