// SPDX-License-Identifier: BSD-2-Clause
// Atomic replacement of the saved file, and its backups.

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "core/whole_file.h"
#include "target/config/file/file.h"
#include "target/config/tree/class.h"

int file_read(const char *path, char **ret, size_t *ret_len, struct err *e)
{
	int r = whole_file_read(path, ret, ret_len, e);
	if (r == -EACCES)
		return err_set(e, r,
			       "%s: cannot open: Permission denied (farblockd runs as uid %u: "
			       "chown or chmod it)",
			       path, (unsigned)geteuid());
	if (r == -ENOENT)
		private_tmp_refuse(path, r, e);
	return r;
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

// The backups in a directory, the oldest first; for free_list().
static int list_backups(const char *dir, struct dirent ***ret)
{
	int n = scandir(dir, ret, is_backup, alphasort);
	return n < 0 ? 0 : n;
}

static void free_list(struct dirent **list, int n)
{
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

// All of the newest ones are kept, since undo reverts single changes; of the older ones as many
// again with a minimum interval, so that a burst of changes does not remove the older states.
static void drop_old_backups(const char *folder, int most)
{
	struct dirent **list = NULL;
	int n = list_backups(folder, &list), apart = 0;
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
	}
	free_list(list, n);
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
	struct dirent **list = NULL;
	int n = list_backups(dir, &list);
	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	put_name(ret, size, &tm, (unsigned)(now.tv_nsec / 1000000));
	if (n > 0 && strcmp(ret, list[n - 1]->d_name) <= 0)
		name_behind(list[n - 1]->d_name, ret, size);
	free_list(list, n);
}

// Keeps the file that is about to be replaced. A failure is reported but does not stop the save: an
// old copy is worth less than the new configuration.
static void keep_backup(const char *path, const char *folder, void *most)
{
	char dir[PATH_MAX + 8], name[64], to[PATH_MAX + 80];
	if (access(path, F_OK) < 0)
		return;
	snprintf(dir, sizeof dir, "%s/backup", folder);
	if (mkdir(dir, 0700) < 0 && errno != EEXIST) {
		log_warn("%s: cannot create directory: %m: no backup saved", dir);
		return;
	}
	name_backup(dir, name, sizeof name);
	snprintf(to, sizeof to, "%s/%s", dir, name);
	if (link(path, to) < 0)
		log_warn("%s: cannot create backup: %m", to);
	drop_old_backups(dir, *(const int *)most);
}

bool file_backup_at(const char *path, unsigned steps, char *ret, size_t size)
{
	char folder[PATH_MAX], dir[PATH_MAX + 8];
	struct dirent **list = NULL;
	whole_file_folder(path, folder);
	snprintf(dir, sizeof dir, "%s/backup", folder);
	int n = list_backups(dir, &list), at = n - (int)steps;
	bool is_there = steps && n && at >= 0;
	if (is_there)
		snprintf(ret, size, "%s/%s", dir, list[at]->d_name);
	free_list(list, n);
	return is_there;
}

int file_write(const char *path, const char *text, size_t len, int backups, struct err *e)
{
	const struct whole_file_ways ways = {
		.suffix = ".temp",
		.may_be_link = true, // of the administrator
		.may_make = true,
		.keep = backups >= 0 ? keep_backup : NULL,
		.arg = &backups,
	};
	struct err why;
	int r = whole_file_replace(path, text, len, &ways, &why);
	if (r > 0)
		log_warn("%s", why.text);
	else if (r < 0 && e)
		*e = why;
	return r < 0 ? r : 0;
}

int file_keep_aside(const char *path, char *ret, size_t size, struct err *e)
{
	struct stat st;
	char when[32];
	struct tm tm;
	if (stat(path, &st) < 0)
		return err_errno(e, -errno, "%s: cannot stat", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, -EINVAL, "%s: not a regular file", path);
	strftime(when, sizeof when, "%Y%m%d-%H:%M:%S", localtime_r(&st.st_mtime, &tm));
	snprintf(ret, size, "%s.damaged-%s", path, when);
	if (link(path, ret) < 0 && errno != EEXIST)
		return err_errno(e, -errno, "%s: cannot create", ret);
	return 0;
}
