// SPDX-License-Identifier: BSD-2-Clause
// A systemd service may have a private /tmp and /var/tmp (PrivateTmp=yes): directories named
// systemd-private-*, mounted there, invisible to other programs, and removed when the service
// stops. Detected by /proc/self/mountinfo (proc_pid_mountinfo(5)). Control thread; blocks.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/file/file.h"

// The directory of path, or its nearest existing parent, without links.
static bool real_folder(const char *path, char out[PATH_MAX])
{
	char text[PATH_MAX];
	if (*path != '/' || strlen(path) >= sizeof text)
		return false;
	snprintf(text, sizeof text, "%s", path);
	for (char *slash; (slash = strrchr(text, '/'));) {
		*slash = 0;
		if (realpath(*text ? text : "/", out))
			return true;
	}
	return false;
}

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);
	if (n == 1)
		return true; // "/"
	return !strncmp(path, folder, n) && (!path[n] || path[n] == '/');
}

// The mount of a directory: its mount point, and its root within the file system. Of two at one
// mount point, the later one hides the other.
static void find_mount(const char *folder, char where[PATH_MAX], bool *ret_is_private)
{
	char *line = NULL;
	size_t size = 0;
	FILE *f = fopen("/proc/self/mountinfo", "re");
	*where = 0;
	*ret_is_private = false;
	while (f && getline(&line, &size, f) > 0) {
		char root[PATH_MAX], point[PATH_MAX];
		if (sscanf(line, "%*u %*u %*s %4095s %4095s", root, point) != 2 ||
		    strlen(point) < strlen(where) || !is_below(folder, point))
			continue;
		snprintf(where, PATH_MAX, "%s", point);
		*ret_is_private = strstr(root, "/systemd-private-") != NULL;
	}
	free(line);
	if (f)
		fclose(f);
}

int private_tmp_refuse(const char *path, int code, struct err *e)
{
	char folder[PATH_MAX], where[PATH_MAX];
	bool is_private = false;
	if (real_folder(path, folder))
		find_mount(folder, where, &is_private);
	if (!is_private)
		return 0;
	return err_set(e, code,
		       "%.80s: farblockd has its own %.20s, which is removed when it stops "
		       "(PrivateTmp=yes in its unit; use another directory, such as /srv)",
		       path, where);
}
