// SPDX-License-Identifier: BSD-2-Clause
#include "cli/doctor/initiator.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 24, OUTPUT_MAX = 65536 };

#define NAME   "farblock-initiator"
#define SECRET "FARBLOCK_CHAP_SECRET"

extern char **environ;

static volatile sig_atomic_t running; // process id, 0: none

void initiator_stop(void)
{
	if (running)
		kill((pid_t)running, SIGTERM);
}

static void find(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - sizeof NAME);
	char *slash = n > 0 ? memrchr(path, '/', (size_t)n) : NULL;
	if (slash)
		memcpy(slash + 1, NAME, sizeof NAME);
	if (!slash || access(path, X_OK) < 0)
		memcpy(path, NAME, sizeof NAME); // by PATH
}

// Reads until end of file; drops what exceeds OUTPUT_MAX.
static void read_all(int fd, char *out)
{
	char more[4096];
	size_t len = 0;
	for (;;) {
		size_t room = OUTPUT_MAX - 1 - len;
		ssize_t n = read(fd, room ? out + len : more, room ? room : sizeof more);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += room ? (size_t)n : 0;
	}
	out[len] = 0;
}

static int start(const char *const *words, int to, int complaints, pid_t *ret)
{
	char path[PATH_MAX], *argv[WORDS_MAX + 2] = { (char *)NAME };
	posix_spawn_file_actions_t fa;
	for (int i = 0; i < WORDS_MAX && words[i]; i++)
		argv[i + 1] = (char *)words[i];
	find(path);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, to, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&fa, complaints, STDERR_FILENO);
	int r = posix_spawnp(ret, path, &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	return -r;
}

static int complain(FILE *complaints, struct err *e)
{
	static const char begin[] = NAME ": ";
	char text[400] = "";
	rewind(complaints);
	if (!fgets(text, sizeof text, complaints))
		return err_set(e, -EIO, NAME ": failed without a message");
	text[strcspn(text, "\n")] = 0;
	bool is_named = !strncmp(text, begin, sizeof begin - 1);
	return err_set(e, -EIO, "%s", text + (is_named ? sizeof begin - 1 : 0));
}

int initiator_run(const char *const *words, const char *secret, char **ret, struct err *e)
{
	int ends[2], status = 0;
	pid_t pid;
	char *out = malloc(OUTPUT_MAX);
	FILE *complaints = tmpfile();
	*ret = NULL;
	if (!out || !complaints || pipe2(ends, O_CLOEXEC) < 0) {
		free(out);
		if (complaints)
			fclose(complaints);
		return err_set(e, -ENOMEM, NAME ": out of memory or file descriptors");
	}
	*out = 0;
	if (secret)
		setenv(SECRET, secret, 1);
	int r = start(words, ends[1], fileno(complaints), &pid);
	if (secret)
		unsetenv(SECRET);
	close(ends[1]);
	if (!r) {
		running = pid;
		read_all(ends[0], out);
		siginfo_t over; // not yet reaped, so the pid is still its own
		while (waitid(P_PID, (id_t)pid, &over, WEXITED | WNOWAIT) < 0 && errno == EINTR)
			;
		running = 0;
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		r = WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : complain(complaints, e);
	} else {
		err_errno(e, r, NAME ": cannot run");
	}
	close(ends[0]);
	fclose(complaints);
	*ret = out;
	return r;
}
