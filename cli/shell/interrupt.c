// SPDX-License-Identifier: BSD-2-Clause
#include "cli/shell/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t has_interrupt, has_resize;
static bool is_caught;
static sigset_t open_mask; // mask at the program's start

static void note(int number)
{
	if (number == SIGINT)
		has_interrupt = 1;
	else
		has_resize = 1;
}

void interrupt_catch(void)
{
	struct sigaction a = { .sa_handler = note };
	sigset_t ours;
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGWINCH);
	sigprocmask(SIG_BLOCK, &ours, &open_mask);
	sigdelset(&open_mask, SIGINT);
	sigdelset(&open_mask, SIGWINCH);
	sigaction(SIGINT, &a, NULL);
	sigaction(SIGWINCH, &a, NULL);
	is_caught = true;
}

// Consumes a pending signal: -EINTR, -ERESTART or 0. A blocked signal is older than readable keys,
// but ppoll() would report the keys first.
static int take(void)
{
	sigset_t ours;
	if (is_caught) {
		sigprocmask(SIG_SETMASK, &open_mask, &ours);
		sigprocmask(SIG_SETMASK, &ours, NULL);
	}
	if (has_interrupt) {
		has_interrupt = 0;
		return -EINTR;
	}
	if (has_resize) {
		has_resize = 0;
		return -ERESTART;
	}
	return 0;
}

int interrupt_wait(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct timespec t = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };
	int n, r;
	do {
		r = take();
		if (r < 0)
			return r;
		n = ppoll(&p, 1, timeout_ms < 0 ? NULL : &t, is_caught ? &open_mask : NULL);
	} while (n < 0 && errno == EINTR);
	return n != 0;
}

int interrupt_wait_key(int fd, int timeout_ms)
{
	int r = interrupt_wait(fd, timeout_ms);
	int signalled = r > 0 ? take() : 0;
	return signalled ? signalled : r;
}

void interrupt_again(int r)
{
	if (r == -EINTR)
		has_interrupt = 1;
	else if (r == -ERESTART)
		has_resize = 1;
}
