// SPDX-License-Identifier: BSD-2-Clause
// The view of mounts of a process that holds the root file system (--root-disk): that of the
// initramfs, since nothing on the disk may be needed to keep it going.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/lockfile.h"
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

// ---- a root of its own ----

// switch_root removes the directories of the initramfs. The kernel then takes away what is mounted
// on them, in every view of mounts: /dev would be gone. In a root of its own, a tmpfs, they stay;
// all else is a link to where it was.
#define OLD ".initial"
static const char *const own[] = { "dev", "proc", "sys", "run" };
enum { OWN = sizeof own / sizeof *own };

static bool is_own(const char *name)
{
	bool is = name[0] == '.'; // also "." and ".."
	for (size_t i = 0; i < OWN; i++)
		is |= !strcmp(name, own[i]);
	return is;
}

static int link_others(int root)
{
	DIR *d = opendir("/");
	int r = d ? 0 : -errno;
	for (struct dirent *entry; d && !r && (entry = readdir(d));) {
		char to[NAME_MAX + sizeof OLD + 1];
		snprintf(to, sizeof to, OLD "/%s", entry->d_name);
		if (!is_own(entry->d_name) && symlinkat(to, root, entry->d_name) < 0)
			r = -errno;
	}
	if (d)
		closedir(d);
	return r;
}

static int bind_at(const char *root, const char *from, const char *name)
{
	char to[PATH_MAX + NAME_MAX + 2];
	snprintf(to, sizeof to, "%s/%s", root, name);
	if (mkdir(to, 0755) < 0)
		return -errno;
	// The initramfs may lack one.
	return mount(from, to, NULL, MS_BIND | MS_REC, NULL) < 0 && errno != ENOENT ? -errno : 0;
}

static int fill(const char *root)
{
	int r = bind_at(root, "/", OLD);
	for (size_t i = 0; i < OWN && !r; i++) {
		char from[16];
		snprintf(from, sizeof from, "/%s", own[i]);
		r = bind_at(root, from, own[i]);
	}
	int fd = r ? -1 : open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!r)
		r = fd < 0 ? -errno : link_others(fd);
	if (fd >= 0)
		close(fd);
	return r;
}

static int enter(const char *root)
{
	return chdir(root) < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0
		       ? -errno
		       : 0;
}

// At a directory of run_dir for a moment. Unbindable: it is not in what is bound into it.
static int move_to_own_root(const char *run_dir)
{
	char root[PATH_MAX + 16];
	snprintf(root, sizeof root, "%s/.root-XXXXXX", run_dir);
	if (!mkdtemp(root))
		return -errno;
	int r = mount("farblock", root, "tmpfs", 0, "mode=755,size=1m") < 0 ? -errno : 0;
	if (!r) {
		r = mount(NULL, root, NULL, MS_UNBINDABLE, NULL) < 0 ? -errno : fill(root);
		if (!r)
			r = enter(root);
		if (r)
			umount2(root, MNT_DETACH);
	}
	rmdir(root);
	return r;
}

int attach_leave_root(const char *run_dir, struct err *e)
{
	char path[PATH_MAX];
	int r = folder_make(run_dir, 0700, e);
	if (r < 0)
		return r;
	if (!realpath(run_dir, path))
		return err_errno(e, -errno, "%s", run_dir);
	if (unshare(CLONE_NEWNS) < 0)
		return err_set(e, -errno, "--root-disk: unshare mounts: %s (run as root)",
			       strerror(errno));
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_errno(e, -errno, "--root-disk: /: make its mounts private");
	leave_mounts(path);
	r = move_to_own_root(path);
	return r < 0 ? err_errno(e, r, "--root-disk: %s: make a root of its own", path) : 0;
}
