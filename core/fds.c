// SPDX-License-Identifier: BSD-2-Clause
// The marks below RLIMIT_NOFILE. Written once at start, read by any thread.
#include "core/fds.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

// Reserved for administration, and in addition for storage; each at most an eighth of the limit.
#define KEPT_ADMIN   96u
#define KEPT_STORAGE 256u

static unsigned limit = INT_MAX;
static unsigned marks[FDS_PURPOSES] = { INT_MAX, INT_MAX };

static unsigned kept(unsigned most)
{
	return limit / 8 < most ? limit / 8 : most;
}

void fds_fill_std(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0) // this is the lowest free number
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void fds_init(void)
{
	struct rlimit l;
	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		return;
	if (l.rlim_cur != l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &l) < 0 && getrlimit(RLIMIT_NOFILE, &l) < 0)
			return;
	}
	limit = l.rlim_cur < INT_MAX ? (unsigned)l.rlim_cur : INT_MAX;
	marks[FDS_STORAGE] = limit - kept(KEPT_ADMIN);
	marks[FDS_CONNECTIONS] = marks[FDS_STORAGE] - kept(KEPT_STORAGE);
}

unsigned fds_limit(void)
{
	return limit;
}

unsigned fds_mark(enum fds_purpose purpose)
{
	return marks[purpose];
}

unsigned fds_in_use(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		fd = open("/", O_PATH | O_CLOEXEC); // stderr is closed
	if (fd < 0)
		return limit;
	close(fd);
	return (unsigned)fd;
}

bool fds_have_room(enum fds_purpose purpose)
{
	return marks[purpose] == INT_MAX || fds_in_use() < marks[purpose];
}
