// SPDX-License-Identifier: BSD-2-Clause
#include "core/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void (*file_step_hook)(const char *step);

static void step(const char *name)
{
	if (file_step_hook)
		file_step_hook(name);
}

static int read_all(int fd, char *to, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = read(fd, to + done, len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

static int refuse_open(const char *path, int why, struct err *e)
{
	struct stat st;
	if (why == -ENOENT && !lstat(path, &st)) // possibly not mounted yet, which differs from
						 // empty
		return err_set(e, -ENOLINK,
			       "%s: dangling symbolic link (mount or create its target)", path);
	return err_errno(e, why, "%s: cannot open", path);
}

int whole_file_read(const char *path, char **ret, size_t *ret_len, struct err *e)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return refuse_open(path, -errno, e);
	int r = fstat(fd, &st) < 0 ? -errno : 0;
	if (!r && !S_ISREG(st.st_mode))
		r = err_set(e, -EINVAL, "%s: not a regular file", path);
	else if (!r && st.st_size > WHOLE_FILE_MAX)
		r = err_set(e, -EFBIG, "%s: longer than 1 GiB", path);
	else if (!r) {
		*ret_len = (size_t)st.st_size;
		*ret = malloc(*ret_len + 1);
		r = *ret ? read_all(fd, *ret, *ret_len) : -ENOMEM;
		if (r < 0) {
			free(*ret);
			err_errno(e, r, "%s: cannot read", path);
		} else
			(*ret)[*ret_len] = 0;
	}
	close(fd);
	return r;
}

void whole_file_folder(const char *path, char *folder)
{
	snprintf(folder, PATH_MAX, "%s", path);
	char *slash = strrchr(folder, '/');
	if (!slash)
		snprintf(folder, PATH_MAX, ".");
	else if (slash == folder)
		slash[1] = 0;
	else
		*slash = 0;
}

static int make_folder(const char *folder, struct err *e)
{
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return err_errno(e, -errno, "%s: cannot create directory", folder);
	return 0;
}

// A missing directory is more often a typing error than one to create.
static int check_folder(const char *folder, struct err *e)
{
	struct stat st;
	if (stat(folder, &st) < 0)
		return err_errno(e, -errno, "%s: cannot use directory", folder);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, -ENOTDIR, "%s: not a directory", folder);
	return 0;
}

static int sync_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int r = fsync(fd) < 0 ? -errno : 0;
	close(fd);
	return r;
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_temporary(const char *temp, const char *text, size_t len, struct err *e)
{
	step("create");
	unlink(temp); // left by a crash: only we write here, and it was never complete
	int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno(e, -errno, "%s: cannot create", temp);
	step("write");
	int r = write_all(fd, text, len);
	step("fsync");
	if (!r && fsync(fd) < 0)
		r = -errno;
	if (close(fd) < 0 && !r)
		r = -errno;
	if (r < 0) {
		unlink(temp);
		return err_errno(e, r, "%s: cannot write", temp);
	}
	return 0;
}

// rename() would replace a device or socket, and a link such as /dev/stdout.
static int check_replaceable(const char *path, bool may_be_link, struct err *e)
{
	struct stat st;
	if (lstat(path, &st) < 0 || S_ISREG(st.st_mode) || (may_be_link && S_ISLNK(st.st_mode)))
		return 0;
	return err_set(e, S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL,
		       "%s: not a regular file, not replaced (choose another name)", path);
}

// Renames the temporary file.
static int put_in_place(const char *temp, const char *path, const char *folder, struct err *e)
{
	step("rename");
	if (rename(temp, path) < 0) {
		int r = err_errno(e, -errno, "%s: cannot replace", path);
		unlink(temp);
		return r;
	}
	step("fsync directory");
	// The new file is in place and cannot be undone.
	int r = sync_folder(folder);
	return r < 0 ? (err_errno(e, r, "%s: cannot sync directory", folder), 1) : 0;
}

int whole_file_replace(const char *path, const char *text, size_t len,
		       const struct whole_file_ways *ways, struct err *e)
{
	char folder[PATH_MAX], temp[PATH_MAX + 16];
	if (strlen(path) >= PATH_MAX)
		return err_set(e, -ENAMETOOLONG, "%.60s...: path too long", path);
	whole_file_folder(path, folder);
	snprintf(temp, sizeof temp, "%s%s", path, ways->suffix);
	int r = check_replaceable(path, ways->may_be_link, e);
	if (!r)
		r = ways->may_make ? make_folder(folder, e) : check_folder(folder, e);
	if (!r)
		r = write_temporary(temp, text, len, e);
	if (r < 0)
		return r;
	step("backup");
	if (ways->keep)
		ways->keep(path, folder, ways->arg);
	return put_in_place(temp, path, folder, e);
}
