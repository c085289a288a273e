// SPDX-License-Identifier: BSD-2-Clause
// The file that replaces an overlay by an empty one. Control thread; blocks on the file system.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backstores/overlay.h"
#include "core/log.h"

#define RESET_SUFFIX ".reset"

// As realpath(3), of a file that is not there: of its folder, and its name.
static int path_of_missing(const char *path, char file[PATH_MAX])
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct stat st;
	if (lstat(path, &st) == 0 || !*name)
		return -ENOENT; // a link to nowhere stays one
	int n = slash ? snprintf(folder, sizeof folder, "%.*s/", (int)(slash - path), path)
		      : snprintf(folder, sizeof folder, ".");
	if (n >= PATH_MAX)
		return -ENAMETOOLONG;
	if (!realpath(folder, file))
		return -errno;
	size_t length = strlen(file);
	n = snprintf(file + length, PATH_MAX - length, "/%s", name);
	return n < (int)(PATH_MAX - length) ? 0 : -ENAMETOOLONG;
}

// The file that path names, which may have been removed, and the one that replaces it.
static int names_of(const char *path, char file[PATH_MAX], char next[PATH_MAX])
{
	int r = realpath(path, file) ? 0 : -errno;
	if (r == -ENOENT)
		r = path_of_missing(path, file);
	if (r < 0)
		return r;
	int n = snprintf(next, PATH_MAX, "%s%s", file, RESET_SUFFIX);
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

// The bytes of the disk in the file: 0 if it is damaged, otherwise if it is not there.
static uint64_t size_of_disk(const char *file, uint64_t otherwise, enum bs_overlay kind,
			     struct stat *ret)
{
	struct overlay_header h;
	struct overlay_layout l;
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return otherwise;
	bool is_there = fd >= 0 && fstat(fd, ret) == 0;
	uint64_t size = is_there ? (uint64_t)ret->st_size : 0;
	if (is_there && kind == BS_OVERLAY_MAP) {
		bool is_sound =
			!overlay_read_header(fd, &h, NULL) && !overlay_layout(h.base.size, &l);
		size = is_sound && size > l.data ? size - l.data : 0;
	}
	if (fd >= 0)
		close(fd);
	return size;
}

static uint64_t size_of_file(const char *path)
{
	struct stat st;
	return stat(path, &st) < 0 ? 0 : (uint64_t)st.st_size;
}

static int fill(int fd, const char *file, const char *base, uint64_t otherwise,
		enum bs_overlay kind, const char *name, struct err *e)
{
	struct stat st = { .st_mode = 0600, .st_uid = geteuid(), .st_gid = getegid() };
	uint64_t size = size_of_disk(file, otherwise, kind, &st), least = size_of_file(base);
	if (least < otherwise)
		least = otherwise; // the file may be damaged
	int r = overlay_create(fd, file, base, size > least ? size : least, kind, name, &kind, e);
	if (r < 0)
		return r;
	// An owner that we may not set stays ours.
	if (fchown(fd, st.st_uid, st.st_gid) < 0)
		log_debug("%s: owner: %s", file, strerror(errno));
	if (fchmod(fd, st.st_mode & 07777) < 0 || fsync(fd) < 0)
		return err_errno(e, -errno, "%s: permissions", file);
	return 0;
}

// Whether the file can be one that a reset has left: an empty one, or an overlay file, of which the
// header may be missing. What a clone holds does not tell.
static bool is_left(int fd, enum bs_overlay kind)
{
	uint8_t data[OVERLAY_HEADER], zeroes[OVERLAY_HEADER] = { 0 };
	struct stat st;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	return kind == BS_OVERLAY_CLONE || !st.st_size || overlay_is(fd) ||
	       (pread(fd, data, sizeof data, 0) == sizeof data &&
		!memcmp(data, zeroes, sizeof data));
}

// Removes the file that a reset has left when it was killed, and no other's.
static int remove_last(const char *next, enum bs_overlay kind, const char *name, struct err *e)
{
	struct claim claim = { 0 };
	int fd = open(next, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), r = 0;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_errno(e, -errno, "%s: open what a reset has left", next);
	if (!is_left(fd, kind))
		r = err_set(e, -EEXIST, "%s: exists, and no reset has left it (move it away)",
			    next);
	else
		r = claim_take(&claim, fd, CLAIM_WRITE, name, next, e);
	if (!r && unlink(next) < 0)
		r = err_errno(e, -errno, "%s: remove", next);
	claim_release(&claim);
	close(fd);
	return r;
}

int overlay_prepare(const char *path, const char *base, uint64_t size, enum bs_overlay kind,
		    const char *name, struct err *e)
{
	char file[PATH_MAX], next[PATH_MAX];
	int r = names_of(path, file, next);
	if (r < 0)
		return err_errno(e, r, "%s", path);
	r = remove_last(next, kind, name, e);
	if (r < 0)
		return r;
	int fd = open(next, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_errno(e, -errno, "%s: create", next);
	r = fill(fd, file, base, size, kind, name, e);
	close(fd);
	if (r < 0)
		unlink(next);
	return r;
}

int overlay_replace(const char *path, struct err *e)
{
	char file[PATH_MAX], next[PATH_MAX];
	int r = names_of(path, file, next);
	if (!r && rename(next, file) < 0)
		r = -errno;
	if (r < 0)
		return err_errno(e, r, "%s: replace", path);
	r = fdstore_sync_folder(file);
	if (r < 0)
		log_warn("%s: sync its directory: %s (after a power failure the old "
			 "one may be there again)",
			 file, strerror(-r));
	return 0;
}

void overlay_forget(const char *path)
{
	char file[PATH_MAX], next[PATH_MAX];
	if (!names_of(path, file, next))
		unlink(next);
}
