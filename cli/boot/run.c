// SPDX-License-Identifier: BSD-2-Clause
// boot-check: runs farblock-initiator, whose report says why a LUN does not boot also when it
// fails.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/boot/boot.h"

#define NAME   "farblock-initiator"
#define SECRET "FARBLOCK_CHAP_SECRET"

enum { WORDS_MAX = 16 };

extern char **environ;

// The one beside this program, else that of PATH.
static void find(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - sizeof NAME);
	char *slash = n > 0 ? memrchr(path, '/', (size_t)n) : NULL;
	if (slash)
		memcpy(slash + 1, NAME, sizeof NAME);
	if (!slash || access(path, X_OK) < 0)
		memcpy(path, NAME, sizeof NAME);
}

static int start(const char *const *words, FILE *report, FILE *complaints, pid_t *ret)
{
	char path[PATH_MAX], *argv[WORDS_MAX + 2] = { (char *)NAME };
	posix_spawn_file_actions_t fa;
	for (int i = 0; i < WORDS_MAX && words[i]; i++)
		argv[i + 1] = (char *)words[i];
	find(path);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, fileno(report), STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&fa, fileno(complaints), STDERR_FILENO);
	int r = posix_spawnp(ret, path, &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	return -r;
}

static int wait_for(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

static void copy(FILE *from, FILE *to)
{
	char buf[4096];
	size_t n;
	rewind(from);
	while ((n = fread(buf, 1, sizeof buf, from)))
		fwrite(buf, 1, n, to);
}

// farblock-initiator's cures name its own options: replaces the first of them by what boot-check
// takes.
static void in_own_words(const char *text, char *ret, size_t size)
{
	static const struct {
		const char *theirs, *own;
	} words[] = {
		{"no user was given: --chap-user, --chap-secret-file",
		  "the ACL has none: set auth userid=NAME password=SECRET"		   },
		{ "the CHAP user and secret: --chap-user, --chap-secret-file",
		  "the CHAP secret: password="					       },
		{ "--initiator-name",					  "initiator="},
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const char *at = strstr(text, words[i].theirs);
		if (!at)
			continue;
		snprintf(ret, size, "%.*s%s%s", (int)(at - text), text, words[i].own,
			 at + strlen(words[i].theirs));
		return;
	}
	snprintf(ret, size, "%s", text);
}

static int complain(FILE *complaints, struct err *e)
{
	static const char begin[] = NAME ": ";
	char text[400] = "", own[500];
	rewind(complaints);
	if (!fgets(text, sizeof text, complaints))
		return err_set(e, -EIO, NAME ": failed without a message");
	text[strcspn(text, "\n")] = 0;
	bool is_named = !strncmp(text, begin, sizeof begin - 1);
	in_own_words(text + (is_named ? sizeof begin - 1 : 0), own, sizeof own);
	return err_set(e, -EIO, "%s", own);
}

static int run(const char *const *words, const char *secret, FILE *report, FILE *complaints,
	       FILE *out, struct err *e)
{
	pid_t pid;
	if (secret)
		setenv(SECRET, secret, 1);
	int r = start(words, report, complaints, &pid);
	if (secret)
		unsetenv(SECRET);
	if (r < 0)
		return err_errno(e, r, NAME ": cannot run");
	r = wait_for(pid);
	copy(report, out);
	return r < 0 ? complain(complaints, e) : 0;
}

int boot_run_initiator(const char *const *words, const char *secret, FILE *out, struct err *e)
{
	FILE *report = tmpfile(), *complaints = tmpfile();
	int r = report && complaints ? run(words, secret, report, complaints, out, e)
				     : err_errno(e, -errno, NAME ": no temporary file");
	if (report)
		fclose(report);
	if (complaints)
		fclose(complaints);
	return r;
}
