// SPDX-License-Identifier: BSD-2-Clause
// The view of mounts of a process that holds the root file system (--root-disk): that of the
// initramfs, since nothing on the disk may be needed to keep it going.
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

#include "core/log.h"
#include "initiator/attach/escapes.h"
#include "initiator/program/attach.h"

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);
	return !strncmp(path, folder, n) && (!path[n] || path[n] == '/');
}

// Of the kernel's own file systems, those that the process looks at later, and where its state is.
static bool is_needed(const char *at, const char *type, const char *run_dir)
{
	static const char *const folders[] = { "/dev", "/proc", "/sys", "/run" };
	static const char *const types[] = { "devtmpfs", "proc", "sysfs", "tmpfs", "ramfs" };
	bool is_folder = false, is_type = false;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		is_folder |= is_below(at, folders[i]);
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		is_type |= !strcmp(type, types[i]);
	return !strcmp(at, "/") || is_below(run_dir, at) || (is_folder && is_type);
}

// All others would be busy for as long as this process lives, though nobody sees them any more.
static void leave_mounts(const char *run_dir)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, at[PATH_MAX], type[64];
	size_t size = 0;
	while (f && getline(&line, &size, f) > 0) {
		const char *rest = strstr(line, " - ");
		if (!rest || sscanf(line, "%*d %*d %*s %*s %4095s", at) != 1 ||
		    sscanf(rest, " - %63s", type) != 1)
			continue;
		escapes_undo(at);
		if (!is_needed(at, type, run_dir) && umount2(at, MNT_DETACH) < 0)
			log_debug("%s: %s", at, strerror(errno)); // gone with one above it
	}
	free(line);
	if (f)
		fclose(f);
}

int attach_leave_root(const char *run_dir, struct err *e)
{
	char path[PATH_MAX];
	if (unshare(CLONE_NEWNS) < 0)
		return err_errno(e, -errno, "--root-disk: mounts of its own (root may make them)");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_errno(e, -errno, "--root-disk: mounts of its own");
	leave_mounts(realpath(run_dir, path) ? path : run_dir);
	return 0;
}
