// SPDX-License-Identifier: BSD-2-Clause
// Kernel modules, by modprobe. The program's thread.
#include "initiator/attach/module.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(const char *path, char *const words[])
{
	char environment[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	char *none[] = { environment, NULL };
	posix_spawn_file_actions_t quiet;
	pid_t pid;
	int status = -1;

	if (posix_spawn_file_actions_init(&quiet))
		return -ENOMEM;
	for (int fd = 0; fd <= 2; fd++)
		posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_RDWR, 0);
	int r = posix_spawn(&pid, path, &quiet, NULL, words, none);
	posix_spawn_file_actions_destroy(&quiet);
	if (r)
		return -r;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ENODEV;
}

int module_load(const char *name)
{
	static const char *const paths[] = { "/sbin/modprobe", "/usr/sbin/modprobe" };
	char own[] = "modprobe", quiet[] = "-q";
	char *words[] = { own, quiet, (char *)(uintptr_t)name, NULL };
	int r = -EPERM;

	if (geteuid())
		return r;
	for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++) {
		r = run(paths[i], words);
		if (r != -ENOENT)
			break;
	}
	return r;
}
