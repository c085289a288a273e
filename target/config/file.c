// SPDX-License-Identifier: BSD-2-Clause
// Atomic replacement of the saved file, and its backups.
#include "target/config/file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"

enum { FILE_SIZE_MAX = 1 << 30 };

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

static int tell_closed(const char *path, int why, struct err *e)
{
	struct stat st;
	if (why == -EACCES)
		return err_set(e, why,
			       "%s: cannot open: Permission denied (farblockd runs as uid %u: "
			       "chown or chmod it)",
			       path, (unsigned)geteuid());
	if (why == -ENOENT && !lstat(path, &st)) // possibly not mounted yet, which differs from
						 // empty
		return err_set(e, -ENOLINK,
			       "%s: dangling symbolic link (mount or create its target)", path);
	if (why == -ENOENT && private_tmp_refuse(path, why, e) < 0)
		return why;
	return err_errno(e, why, "%s: cannot open", path);
}

int file_read(const char *path, char **ret, size_t *ret_len, struct err *e)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return tell_closed(path, -errno, e);
	int r = fstat(fd, &st) < 0 ? -errno : 0;
	if (!r && !S_ISREG(st.st_mode))
		r = err_set(e, -EINVAL, "%s: not a regular file", path);
	else if (!r && st.st_size > FILE_SIZE_MAX)
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

// The directory of path: "." if path has none.
static void folder_of(const char *path, char folder[PATH_MAX])
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

enum { STAMP_LEN = 17 }; // YYYYMMDD-HH:MM:SS

// Files with other names belong to the user.
static int is_backup(const struct dirent *d)
{
	struct tm tm;
	size_t len = strlen(d->d_name);
	return !strncmp(d->d_name, "saveconfig-", 11) && len >= 11 + STAMP_LEN + 5 &&
	       !strcmp(d->d_name + len - 5, ".json") &&
	       strptime(d->d_name + 11, "%Y%m%d-%H:%M:%S", &tm) == d->d_name + 11 + STAMP_LEN;
}

// The time of a backup, from its name; -1: unknown.
static time_t backup_time(const char *name)
{
	struct tm tm = { .tm_isdst = -1 };
	return strptime(name + 11, "%Y%m%d-%H:%M:%S", &tm) ? mktime(&tm) : -1;
}

// All of the newest ones are kept, since undo reverts single changes; of the older ones as many
// again with a minimum interval, so that a burst of changes does not remove the older states.
static void drop_old_backups(const char *folder, int most)
{
	struct dirent **list;
	int n = scandir(folder, &list, is_backup, alphasort), apart = 0;
	time_t last = -1;
	for (int i = n - 1; i >= 0; i--) {
		char path[PATH_MAX + 300];
		time_t when = backup_time(list[i]->d_name);
		bool is_recent = n - 1 - i < most;
		bool is_apart = last < 0 || when < 0 || last - when >= FILE_BACKUP_INTERVAL_S;
		snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
		if (!is_recent && is_apart)
			apart++;
		if (is_recent || (is_apart && apart <= most))
			last = when;
		else
			unlink(path);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

static void put_name(char *ret, size_t size, const struct tm *tm, unsigned ms)
{
	char when[40];
	strftime(when, sizeof when, "%Y%m%d-%H:%M:%S", tm);
	snprintf(ret, size, "saveconfig-%s.%03u.json", when, ms % 1000);
}

// A name that sorts after that of the newest, since undo uses their order: the clock may have been
// set back, and local time goes back once a year. Local times are treated as UTC, which has no such
// hour.
static void name_behind(const char *newest, char *ret, size_t size)
{
	struct tm tm = { 0 };
	const char *rest = strptime(newest + 11, "%Y%m%d-%H:%M:%S", &tm);
	bool has_ms = rest && *rest == '.' && isdigit((unsigned char)rest[1]);
	long ms = has_ms ? strtol(rest + 1, NULL, 10) % 1000 + 1 : 1000;
	time_t t = timegm(&tm) + ms / 1000;
	gmtime_r(&t, &tm);
	put_name(ret, size, &tm, (unsigned)ms);
}

static void name_backup(const char *dir, char *ret, size_t size)
{
	struct timespec now;
	struct tm tm;
	struct dirent **list;
	int n = scandir(dir, &list, is_backup, alphasort);
	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	put_name(ret, size, &tm, (unsigned)(now.tv_nsec / 1000000));
	if (n > 0 && strcmp(ret, list[n - 1]->d_name) <= 0)
		name_behind(list[n - 1]->d_name, ret, size);
	for (int i = 0; i < n; i++)
		free(list[i]);
	if (n >= 0)
		free(list);
}

// Keeps the file that is about to be replaced. A failure is reported but does not stop the save: an
// old copy is worth less than the new configuration.
static void keep_backup(const char *path, const char *folder, int most)
{
	char dir[PATH_MAX + 8], name[64], to[PATH_MAX + 80];
	struct err e = { 0 };
	if (access(path, F_OK) < 0)
		return;
	snprintf(dir, sizeof dir, "%s/backup", folder);
	if (make_folder(dir, &e) < 0) {
		log_warn("%s: no backup saved", e.text);
		return;
	}
	name_backup(dir, name, sizeof name);
	snprintf(to, sizeof to, "%s/%s", dir, name);
	if (link(path, to) < 0)
		log_warn("%s: cannot create backup: %m", to);
	drop_old_backups(dir, most);
}

bool file_backup_at(const char *path, unsigned steps, char *ret, size_t size)
{
	char folder[PATH_MAX], dir[PATH_MAX + 8];
	struct dirent **list;
	folder_of(path, folder);
	snprintf(dir, sizeof dir, "%s/backup", folder);
	int n = scandir(dir, &list, is_backup, alphasort), at = n - (int)steps;
	bool is_there = steps && n > 0 && at >= 0;
	if (is_there)
		snprintf(ret, size, "%s/%s", dir, list[at]->d_name);
	for (int i = 0; i < n; i++)
		free(list[i]);
	if (n >= 0)
		free(list);
	return is_there;
}

// rename() would replace a device or socket, and for a user's file also a link such as /dev/stdout.
// Our own file may be a link of the administrator.
static int check_replaceable(const char *path, bool is_own, struct err *e)
{
	struct stat st;
	if (lstat(path, &st) < 0 || S_ISREG(st.st_mode) || (is_own && S_ISLNK(st.st_mode)))
		return 0;
	return err_set(e, S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL,
		       "%s: not a regular file, not replaced (choose another name)", path);
}

int file_write(const char *path, const char *text, size_t len, int backups, struct err *e)
{
	char folder[PATH_MAX], temp[PATH_MAX + 16];
	bool is_own = backups != FILE_ELSEWHERE;
	if (strlen(path) >= PATH_MAX)
		return err_set(e, -ENAMETOOLONG, "%.60s...: path too long", path);
	folder_of(path, folder);
	// An existing temporary file is removed: for a user's file the name must be unique.
	snprintf(temp, sizeof temp, "%s%s", path, is_own ? ".temp" : ".farblock-temp");
	int r = is_own ? 0 : private_tmp_refuse(path, -EINVAL, e);
	if (!r)
		r = check_replaceable(path, is_own, e);
	if (!r)
		r = is_own ? make_folder(folder, e) : check_folder(folder, e);
	if (!r)
		r = write_temporary(temp, text, len, e);
	if (r < 0)
		return r;
	step("backup");
	if (backups >= 0)
		keep_backup(path, folder, backups);
	step("rename");
	if (rename(temp, path) < 0) {
		r = err_errno(e, -errno, "%s: cannot replace", path);
		unlink(temp);
		return r;
	}
	step("fsync directory");
	// The new file is in place and cannot be undone, so a failed sync of the directory is only
	// logged.
	r = sync_folder(folder);
	if (r < 0)
		log_warn("%s: cannot sync directory: %s", folder, strerror(-r));
	return 0;
}

int file_keep_aside(const char *path, char *ret, size_t size, struct err *e)
{
	struct stat st;
	char when[32];
	struct tm tm;
	if (stat(path, &st) < 0)
		return err_errno(e, -errno, "%s: cannot stat", path);
	strftime(when, sizeof when, "%Y%m%d-%H:%M:%S", localtime_r(&st.st_mtime, &tm));
	snprintf(ret, size, "%s.damaged-%s", path, when);
	if (link(path, ret) < 0 && errno != EEXIST)
		return err_errno(e, -errno, "%s: cannot create", ret);
	return 0;
}
