// SPDX-License-Identifier: BSD-2-Clause
// See place.h. What a killed process leaves: a mount whose server has gone (ENOTCONN), and a loop
// device of a file in it.
#include "initiator/attach/fuse/place.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "initiator/attach/escapes.h"
#include "initiator/attach/fuse/loop.h"
#include "initiator/attach/use.h"

#define CLEAR_SECONDS  10
#define FORCED_SECONDS 3
#define PAUSE_NS       20000000l

// ---- the path ----

// The directory itself is not followed: a dead mount may be on it.
static int set_path(struct place *p, const struct carrier_config *c, struct err *e)
{
	char given[PATH_MAX], parent[PATH_MAX];
	int n = c->place ? snprintf(given, sizeof given, "%s", c->place)
			 : snprintf(given, sizeof given, "%s/%s.d", c->run_dir, c->name);

	if (n >= (int)sizeof given)
		return err_set(e, -ENAMETOOLONG, "fuse: the mount point's path is too long");
	while (n > 1 && given[n - 1] == '/')
		given[--n] = 0;
	char *slash = strrchr(given, '/');
	const char *base = slash ? slash + 1 : given;
	if (!*base || !strcmp(base, ".") || !strcmp(base, ".."))
		return err_set(e, -EINVAL, "fuse: '%s': cannot be a mount point", given);
	if (slash)
		*slash = 0;
	const char *folder = !slash ? "." : *given ? given : "/";
	if (!realpath(folder, parent))
		return err_errno(e, -errno, "fuse: %s", folder);
	const char *join = strcmp(parent, "/") != 0 ? parent : "";
	if (snprintf(p->path, sizeof p->path, "%s/%s", join, base) >= (int)sizeof p->path ||
	    snprintf(p->file, sizeof p->file, "%s/%s/%s", join, base, c->name) >=
		    (int)sizeof p->file)
		return err_set(e, -ENAMETOOLONG, "fuse: the mount point's path is too long");
	// The kernel's lists have what it points to, by which the mount is found again.
	struct stat st;
	if (!lstat(p->path, &st) && S_ISLNK(st.st_mode))
		return err_set(e, -ENOTDIR, "fuse: %s: a symbolic link, must be a directory",
			       p->path);
	return 0;
}

// ---- what a process left ----

static bool is_mount_of(const char *line, const char *path)
{
	char at[PATH_MAX], type[64];
	const char *rest = strstr(line, " - ");

	if (!rest || sscanf(line, "%*d %*d %*s %*s %4095s", at) != 1 ||
	    sscanf(rest, " - %63s", type) != 1)
		return false;
	escapes_undo(at);
	return !strcmp(type, "fuse.farblock") && !strcmp(at, path);
}

static bool is_mounted(const char *path)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;
	bool is_found = false;

	while (f && !is_found && getline(&line, &size, f) > 0)
		is_found = is_mount_of(line, path);
	free(line);
	if (f)
		fclose(f);
	return is_found;
}

static int clear_loop(const struct place *p, int number, bool is_forced, struct err *e)
{
	char device[LOOP_PATH_MAX];

	loop_path(device, number);
	int r = is_forced ? 0 : use_check(device, e);
	if (r < 0)
		return r;
	r = loop_clear(number, p->file, is_forced ? FORCED_SECONDS : CLEAR_SECONDS, is_forced, e);
	return is_forced && r == -EBUSY ? 1 : r; // 1: it goes with its last user
}

static int clear_loops(const struct place *p, bool is_forced, struct err *e)
{
	int number, r = 0;

	while (!r && (number = loop_find(p->file)) >= 0)
		r = clear_loop(p, number, is_forced, e);
	return r < 0 ? err_prefix(e, "%s: left by a process that has died", p->path) : 0;
}

// 1: it has; 0: nothing was left.
static int clean(const struct place *p, bool is_forced, struct err *e)
{
	struct stat st;

	if (!is_mounted(p->path))
		return 0;
	if (!stat(p->path, &st) || errno != ENOTCONN)
		return err_set(e, -EBUSY, "fuse: %s: another process serves it", p->path);
	int r = clear_loops(p, is_forced, e);
	if (r < 0)
		return r;
	if (umount2(p->path, MNT_DETACH) < 0)
		return err_errno(e, -errno, "fuse: %s: unmount", p->path);
	return 1;
}

int place_clear(const struct place *p, bool is_forced, struct err *e)
{
	int r = clean(p, is_forced, e);

	if (r < 0)
		return r;
	place_leave(p);
	return 0;
}

// ---- the directory ----

static int check_empty(const char *path, struct err *e)
{
	DIR *d = opendir(path);
	bool is_empty = true;

	if (!d)
		return err_errno(e, -errno, "fuse: %s", path);
	for (struct dirent *entry; is_empty && (entry = readdir(d));)
		is_empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	closedir(d);
	return is_empty ? 0 : err_set(e, -ENOTEMPTY, "fuse: %s: the directory is not empty", path);
}

int place_take(struct place *ret, const struct carrier_config *c, struct err *e)
{
	*ret = (struct place){ 0 };
	int r = set_path(ret, c, e);
	if (!r)
		r = clean(ret, false, e);
	if (r < 0)
		return r;
	if (!c->place || r)
		ret->is_made = true;
	if (!mkdir(ret->path, 0700))
		ret->is_made = true;
	else if (errno != EEXIST)
		return err_errno(e, -errno, "fuse: %s", ret->path);
	return check_empty(ret->path, e);
}

int place_unmount(const struct place *p, bool is_lazy, unsigned seconds, struct err *e)
{
	int flags = UMOUNT_NOFOLLOW | (is_lazy ? MNT_DETACH : 0);
	unsigned tries = seconds * (1000000000l / PAUSE_NS);

	while (umount2(p->path, flags) < 0) {
		if (errno == EINVAL || errno == ENOENT) // it is no mount point any more
			return 0;
		if (errno != EBUSY)
			return err_errno(e, -errno, "fuse: %s: unmount", p->path);
		if (!tries--)
			return err_set(e, -EBUSY, "%s: in use by a program", p->path);
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
	}
	return 0;
}

void place_leave(const struct place *p)
{
	if (p->is_made)
		rmdir(p->path);
}
