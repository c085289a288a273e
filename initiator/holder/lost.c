// SPDX-License-Identifier: BSD-2-Clause
// Attachments whose files in the run directory were removed while their processes live: found by
// the lock files that these still have open, as /proc shows. The program's thread; blocks.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "initiator/holder/holder.h"

// Where versions before HOLDER_RUN_DIR had its files, and removed them with farblockd's.
#define OLD_RUN_DIR "/run/farblock/attach"

enum { END_MS = 50000 }; // longer than a process waits for an orderly detach

struct search {
	const char *run_dir;
	char folder[PATH_MAX]; // the same without symbolic links, as /proc shows it
	bool (*found)(void *arg, const char *file, pid_t pid);
	void *arg;
	bool is_over;
};

// The name of a removed file below folder; NULL: target is something else. Cuts target.
static char *removed_in(char *target, const char *folder)
{
	static const char end[] = " (deleted)";
	size_t n = strlen(folder), len = strlen(target);
	if (len < n + sizeof end || strncmp(target, folder, n) || target[n] != '/' ||
	    strcmp(target + len - (sizeof end - 1), end))
		return NULL;
	target[len - (sizeof end - 1)] = 0;
	return strchr(target + n + 1, '/') ? NULL : target + n + 1;
}

static void look_at(struct search *s, int fds, const char *fd, pid_t pid)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(fds, fd, target, sizeof target - 1);
	if (n < 0)
		return; // closed meanwhile
	target[n] = 0;
	char *file = *s->folder ? removed_in(target, s->folder) : NULL;
	if (!file && !strcmp(s->run_dir, HOLDER_RUN_DIR))
		file = removed_in(target, OLD_RUN_DIR);
	if (file)
		s->is_over = !s->found(s->arg, file, pid);
}

// What other users' processes have open proves nothing.
static void look_in(struct search *s, pid_t pid)
{
	char path[32];
	struct stat st;
	struct dirent *d;
	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	DIR *fds = opendir(path);
	bool is_own = fds && !fstat(dirfd(fds), &st) && (!st.st_uid || st.st_uid == geteuid());
	while (is_own && !s->is_over && (d = readdir(fds)))
		look_at(s, dirfd(fds), d->d_name, pid);
	if (fds)
		closedir(fds);
}

// The directory itself may have been removed, too.
static void find_folder(struct search *s)
{
	char above[PATH_MAX], whole[PATH_MAX];
	size_t len = strlen(s->run_dir);
	while (len > 1 && s->run_dir[len - 1] == '/')
		len--;
	snprintf(above, sizeof above, "%.*s", (int)len, s->run_dir);
	if (realpath(above, s->folder))
		return;
	char *slash = strrchr(above, '/');
	bool is_below = slash && slash != above;
	if (slash)
		*slash = 0;
	if (!realpath(is_below ? above : slash ? "/" : ".", whole))
		return;
	int n = snprintf(s->folder, sizeof s->folder, "%s/%s", whole[1] ? whole : "",
			 slash ? slash + 1 : above);
	s->folder[(size_t)n < sizeof s->folder ? (size_t)n : 0] = 0;
}

static void look(struct search *s)
{
	find_folder(s);
	DIR *proc = opendir("/proc");
	struct dirent *d;
	while (proc && !s->is_over && (d = readdir(proc)))
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			look_in(s, (pid_t)atoi(d->d_name));
	if (proc)
		closedir(proc);
}

// ---- one file ----

struct wanted {
	const char *file;
	pid_t pid;
};

static bool is_wanted(void *arg, const char *file, pid_t pid)
{
	struct wanted *w = arg;
	if (!strcmp(file, w->file))
		w->pid = pid;
	return !w->pid;
}

pid_t holder_lost(const char *run_dir, const char *name, const char *suffix)
{
	char file[NAME_MAX + 1];
	struct wanted w = { file, 0 };
	struct search s = { .run_dir = run_dir, .found = is_wanted, .arg = &w };
	if (snprintf(file, sizeof file, "%s.%s", name, suffix) < (int)sizeof file)
		look(&s);
	return w.pid;
}

// ---- all ----

struct each {
	void (*found)(void *arg, const char *name, pid_t pid);
	void *arg;
};

static bool tell(void *arg, const char *file, pid_t pid)
{
	struct each *a = arg;
	char name[HOLDER_NAME_MAX + 1];
	size_t n = strlen(file);
	if (n <= 5 || n - 5 > HOLDER_NAME_MAX || strcmp(file + n - 5, ".lock"))
		return true;
	snprintf(name, sizeof name, "%.*s", (int)(n - 5), file);
	if (holder_name_is_valid(name))
		a->found(a->arg, name, pid);
	return true;
}

void holder_each_lost(const char *run_dir, void (*found)(void *arg, const char *name, pid_t pid),
		      void *arg)
{
	struct each a = { found, arg };
	struct search s = { .run_dir = run_dir, .found = tell, .arg = &a };
	look(&s);
}

int holder_end_lost(const char *name, pid_t pid, struct err *e)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n = fd < 0 ? -1 : (int)syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0);
	if (!n)
		n = poll(&p, 1, END_MS);
	int r = n > 0 || errno == ESRCH ? 0 : n < 0 ? -errno : -EBUSY;
	if (fd >= 0)
		close(fd);
	if (r == -EBUSY)
		return err_set(e, r,
			       "%s: process %d has not detached it after %d s: unmount the disk "
			       "and end its users",
			       name, (int)pid, END_MS / 1000);
	return r ? err_errno(e, r, "%s: process %d", name, (int)pid) : 0;
}
