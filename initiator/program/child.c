// SPDX-License-Identifier: BSD-2-Clause
// See child.h.
#include "initiator/program/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted_by;
static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static void on_signal(int number)
{
	interrupted_by = number;
}

// Of a keeper, and of nohup(1).
static bool is_ignored_hangup(int number)
{
	struct sigaction is;
	return number == SIGHUP && !sigaction(number, NULL, &is) && is.sa_handler == SIG_IGN;
}

static void signals_set(sigset_t *ret, void (*handler)(int number))
{
	struct sigaction a = { .sa_handler = handler };
	sigemptyset(ret);
	for (int i = 0; i < NUMBERS; i++) {
		sigaddset(ret, numbers[i]);
		if (!is_ignored_hangup(numbers[i]))
			sigaction(numbers[i], &a, NULL);
	}
}

void child_catch_signals(void)
{
	sigset_t set;
	signals_set(&set, on_signal);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

void child_unblock_signals(void)
{
	sigset_t set;
	signals_set(&set, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void child_ignore_hangup(void)
{
	signal(SIGHUP, SIG_IGN);
}

int child_interrupted(void)
{
	return interrupted_by ? 128 + interrupted_by : 0;
}

void child_wait(const struct child *c)
{
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

// The mask of a wait that the signals end.
static sigset_t open_mask(void)
{
	sigset_t open;
	sigprocmask(SIG_BLOCK, NULL, &open);
	for (int i = 0; i < NUMBERS; i++)
		sigdelset(&open, numbers[i]);
	return open;
}

int child_pause(unsigned ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
	sigset_t open = open_mask();
	ppoll(NULL, 0, &t, &open);
	return interrupted_by ? -EINTR : 0;
}

int child_poll(struct pollfd *fds, unsigned count, int ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
	sigset_t open = open_mask();
	int n = ppoll(fds, count, ms < 0 ? NULL : &t, &open);
	return n < 0 ? -errno : n;
}

int child_take_signal(void)
{
	int number = interrupted_by;
	interrupted_by = 0;
	return number;
}

// Reads to the end of the pipe; -EINTR after a signal, which arrives in the wait alone.
static int hear(int fd, char *ret, size_t size)
{
	struct pollfd p = { fd, POLLIN, 0 };
	sigset_t open = open_mask();
	size_t len = 0;
	while (len < size - 1) {
		if (ppoll(&p, 1, NULL, &open) < 0) {
			if (interrupted_by)
				return -EINTR;
			continue;
		}
		ssize_t n = read(fd, ret + len, size - 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	ret[len] = 0;
	return 0;
}

int child_start(struct child *c, int (*run)(void *arg, int fd), void *arg, struct err *e)
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(e, -errno, "pipe");
	fflush(stdout);
	child_catch_signals();
	c->pid = fork();
	if (!c->pid) {
		close(fds[0]);
		_exit(run(arg, fds[1]));
	}
	close(fds[1]);
	if (c->pid < 0) {
		int r = err_errno(e, -errno, "fork");
		close(fds[0]);
		return r;
	}
	c->fd = fds[0];
	return 0;
}

int child_hear(struct child *c)
{
	int r = hear(c->fd, c->text, sizeof c->text);
	close(c->fd);
	return r;
}

void child_read(struct child *c)
{
	size_t len = 0;
	ssize_t n = 1;
	while (n > 0 && len < sizeof c->text - 1) {
		n = read(c->fd, c->text + len, sizeof c->text - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	c->text[len] = 0;
	close(c->fd);
}
