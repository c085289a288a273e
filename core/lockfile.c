// SPDX-License-Identifier: BSD-2-Clause
// Directories and lock files: flock(2), which the kernel releases when the process ends.
#include "core/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
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
