// SPDX-License-Identifier: BSD-2-Clause
// Files that were removed while farblockd serves them: the data exists until the daemon closes its
// descriptor (proc(5), /proc/PID/fd).
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"

enum { LINKS_MAX = 8 };

static bool join(char ret[PATH_MAX], const char *folder, const char *name)
{
	int n = snprintf(ret, PATH_MAX, "%s/%s", strcmp(folder, "/") ? folder : "", name);
	return n >= 0 && n < PATH_MAX;
}

// Resolves symbolic links, as the kernel reports paths. The last component may be missing.
static bool resolve(const char *path, unsigned links, char ret[PATH_MAX])
{
	char text[PATH_MAX], folder[PATH_MAX], target[PATH_MAX];
	ssize_t len = readlink(path, target, sizeof target - 1);
	const char *slash = strrchr(path, '/');
	if (!slash || strlen(path) >= sizeof text)
		return false;
	snprintf(text, sizeof text, "%.*s", (int)(slash - path), path);
	if (!realpath(*text ? text : "/", folder))
		return false;
	if (len < 0)
		return join(ret, folder, slash + 1);
	target[len] = 0;
	return links && (*target == '/' || join(text, folder, target)) &&
	       resolve(*target == '/' ? target : text, links - 1, ret);
}

// The number of pid's descriptor for a file that was removed from path; -1: none visible.
static int removed_fd(int pid, const char *path)
{
	char folder[40], link[PATH_MAX + 16], wanted[PATH_MAX + 16], real[PATH_MAX];
	struct dirent *entry;
	struct stat st;
	int fd = -1;
	snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
	DIR *dir = pid && resolve(path, LINKS_MAX, real) ? opendir(folder) : NULL;
	if (!dir)
		return -1;
	snprintf(wanted, sizeof wanted, "%s (deleted)", real);
	while (fd < 0 && (entry = readdir(dir))) {
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, link, sizeof link - 1);
		link[len < 0 ? 0 : len] = 0;
		// A name may itself end in " (deleted)".
		if (!strcmp(link, wanted) && stat(link, &st) < 0)
			fd = atoi(entry->d_name);
	}
	closedir(dir);
	return fd;
}

// Quotes a path for a shell. False: too long.
static bool quote(char ret[DOCTOR_FIX_SIZE], const char *path)
{
	size_t n = 0;
	bool is_plain = path[strspn(path, "abcdefghijklmnopqrstuvwxyz"
					  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-")] == 0;
	if (is_plain)
		return (size_t)snprintf(ret, DOCTOR_FIX_SIZE, "%s", path) < DOCTOR_FIX_SIZE;
	ret[n++] = '\'';
	for (; *path && n < DOCTOR_FIX_SIZE - 6; path++)
		n += (size_t)snprintf(ret + n, DOCTOR_FIX_SIZE - n, *path == '\'' ? "'\\''" : "%c",
				      *path);
	ret[n++] = '\'';
	ret[n] = 0;
	return !*path;
}

bool doctor_removed(struct doctor *d, const char *object, const char *path)
{
	bool is_there = !access(path, F_OK);
	int pid = doctor_daemon_pid(d), fd = removed_fd(pid, path);
	char to[DOCTOR_FIX_SIZE], fix[3 * DOCTOR_FIX_SIZE];
	if (fd < 0 && is_there)
		return false;
	struct finding f = { DOCTOR_FAIL, object,
			     "initiators still use it; its data is lost when farblockd stops or "
			     "the disk is deleted",
			     fix };
	if (fd < 0)
		snprintf(fix, sizeof fix,
			 "as root: find it with ls -l /proc/%d/fd; rename it back, or copy it with "
			 "cp --sparse=always /proc/%d/fd/NUMBER FILE",
			 pid, pid);
	else if (!quote(to, path))
		snprintf(fix, sizeof fix, "copy /proc/%d/fd/%d", pid, fd);
	else
		snprintf(fix, sizeof fix,
			 "log its initiators out, run cp --sparse=always /proc/%d/fd/%d %s%s, and "
			 "restart farblockd",
			 pid, fd, to, is_there ? ".saved" : "");
	doctor_say(d, &f, "%.200s %s", path,
		   is_there ? "is another file: the one in use was removed"
		   : fd < 0 ? "was removed or renamed while in use"
			    : "was removed while in use");
	return true;
}
