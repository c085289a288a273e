// SPDX-License-Identifier: BSD-2-Clause
// Directories and lock files: flock(2), which the kernel releases when the process ends.
#include "core/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int make_one(const char *folder, mode_t mode, struct err *e)
{
	struct stat st;
	// Checked first, since mkdir() on a read-only file system does not return EEXIST.
	if (!stat(folder, &st))
		return S_ISDIR(st.st_mode) ? 0
					   : err_set(e, -ENOTDIR, "%s: not a directory", folder);
	if (mkdir(folder, mode) < 0 && errno != EEXIST)
		return err_errno(e, -errno, "%s: cannot create directory", folder);
	return 0;
}

int folder_make(const char *folder, mode_t mode, struct err *e)
{
	char path[PATH_MAX];
	int r = 0;
	if (strlen(folder) >= sizeof path)
		return err_set(e, -ENAMETOOLONG, "%.60s...: path too long", folder);
	snprintf(path, sizeof path, "%s", folder);
	for (char *at = path + 1; !r && *path && (at = strchr(at, '/')); at++) {
		*at = 0;
		r = make_one(path, mode, e);
		*at = '/';
	}
	return r ? r : make_one(path, mode, e);
}

int folder_make_for(const char *path, mode_t mode, struct err *e)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	if (!slash || slash == path)
		return 0;
	if ((size_t)(slash - path) >= sizeof folder)
		return err_set(e, -ENAMETOOLONG, "%.60s...: path too long", path);
	snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
	return folder_make(folder, mode, e);
}

static int check_owner(const char *path, bool is_above, struct err *e)
{
	struct stat st;
	uid_t uid = geteuid();
	mode_t others = uid ? S_IWOTH : S_IWGRP | S_IWOTH;
	if (lstat(path, &st) < 0)
		return err_errno(e, -errno, "%s", path);
	if (st.st_uid && st.st_uid != uid)
		return err_set(e, -EPERM,
			       "%s: belongs to user %u, who could replace what is trusted here "
			       "(chown root, or use another place)",
			       path, (unsigned)st.st_uid);
	if ((st.st_mode & others) && !(is_above && (st.st_mode & S_ISVTX)))
		return err_set(e, -EPERM, "%s: other users may write to it (chmod go-w)", path);
	return 0;
}

int path_check_owners(const char *path, struct err *e)
{
	char whole[PATH_MAX];
	if (!realpath(path, whole))
		return err_errno(e, -errno, "%s", path);
	int r = check_owner("/", whole[1], e);
	for (char *at = whole + 1; !r && *at; at++) {
		at += strcspn(at, "/");
		char end = *at;
		*at = 0;
		r = check_owner(whole, end, e);
		if (!end)
			break;
		*at = end;
	}
	return r;
}

int lockfile_take(const char *path, int *ret_fd, struct err *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_errno(e, -errno, "%s: cannot create", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		int r = errno == EWOULDBLOCK ? -EADDRINUSE : -errno;
		close(fd);
		return r == -EADDRINUSE ? r : err_errno(e, r, "%s: lock", path);
	}
	*ret_fd = fd;
	return 0;
}

// proc_locks(5).
static pid_t holder_of(const struct stat *st)
{
	char line[160];
	pid_t pid = 0;
	FILE *f = fopen("/proc/locks", "re");
	while (f && !pid && fgets(line, sizeof line, f)) {
		unsigned major_id, minor_id;
		unsigned long inode;
		int n;
		if (sscanf(line, "%*u: FLOCK %*s WRITE %d %x:%x:%lu", &n, &major_id, &minor_id,
			   &inode) == 4 &&
		    makedev(major_id, minor_id) == st->st_dev && inode == st->st_ino)
			pid = n;
	}
	if (f)
		fclose(f);
	return pid;
}

bool lockfile_is_held(const char *path, pid_t *ret_pid)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool is_held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	*ret_pid = is_held && !fstat(fd, &st) ? holder_of(&st) : 0;
	if (fd >= 0)
		close(fd);
	return is_held;
}
