// SPDX-License-Identifier: BSD-2-Clause
// See device.h. From sysfs, /proc/self/mountinfo, /proc/swaps and libblkid.
#include "backstores/device.h"

#include <blkid.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

static FILE *open_queue(dev_t rdev, const char *name)
{
	static const char *const places[] = { "queue", "../queue" };
	for (size_t i = 0; i < 2; i++) {
		char path[160];
		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s/%s", major(rdev), minor(rdev),
			 places[i], name);
		FILE *f = fopen(path, "re");
		if (f)
			return f;
	}
	return NULL;
}

bool device_queue_text(dev_t rdev, const char *name, char *ret, size_t size)
{
	FILE *f = open_queue(rdev, name);
	if (!f)
		return false;
	bool is_read = fgets(ret, (int)size, f);
	fclose(f);
	if (is_read)
		ret[strcspn(ret, "\n")] = 0;
	return is_read;
}

static bool sysfs_line(const char *folder, const char *name, char *ret, size_t size)
{
	char path[160];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "re");
	bool is_read = f && fgets(ret, (int)size, f);
	if (f)
		fclose(f);
	ret[is_read ? strcspn(ret, "\n") : 0] = 0;
	return *ret;
}

void device_identity(dev_t rdev, char ret[DEVICE_IDENTITY_MAX])
{
	// Without a name of its own it is the same until it is taken away (Linux 5.15 and later).
	static const char *const names[] = { "wwid",   "device/wwid",	"dm/uuid", "md/uuid",
					     "serial", "device/serial", "diskseq" };
	char folder[80], start[32];
	size_t n = 0;
	snprintf(folder, sizeof folder, "/sys/dev/block/%u:%u", major(rdev), minor(rdev));
	*ret = 0;
	if (sysfs_line(folder, "partition", start, sizeof start)) {
		sysfs_line(folder, "start", start, sizeof start);
		n = (size_t)snprintf(ret, DEVICE_IDENTITY_MAX, "%s+", start);
		snprintf(folder, sizeof folder, "/sys/dev/block/%u:%u/..", major(rdev),
			 minor(rdev));
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (sysfs_line(folder, names[i], ret + n, DEVICE_IDENTITY_MAX - n))
			return;
}

uint64_t device_queue_number(dev_t rdev, const char *name)
{
	char text[32];
	return device_queue_text(rdev, name, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

// Whether the device numbered dev is rdev or a partition of it.
static bool is_part_of(dev_t dev, dev_t rdev)
{
	if (dev == rdev)
		return true;
	char path[80], disk[32] = "", wanted[32];
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../dev", major(dev), minor(dev));
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	bool is_read = fgets(disk, sizeof(disk), f);
	fclose(f);
	snprintf(wanted, sizeof(wanted), "%u:%u\n", major(rdev), minor(rdev));
	return is_read && strcmp(disk, wanted) == 0;
}

// A line of mountinfo: id parent major:minor root mountpoint ...
static bool find_mount(dev_t rdev, char *ret, size_t size)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	if (!f)
		return false;
	bool is_found = false;
	char *line = NULL;
	size_t room = 0;
	while (!is_found && getline(&line, &room, f) > 0) {
		unsigned maj, min;
		char point[160];
		if (sscanf(line, "%*d %*d %u:%u %*s %159s", &maj, &min, point) == 3 &&
		    is_part_of(makedev(maj, min), rdev)) {
			snprintf(ret, size, "mounted at %s", point);
			is_found = true;
		}
	}
	free(line);
	fclose(f);
	return is_found;
}

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);
	return !strncmp(path, folder, n) && (!path[n] || path[n] == '/');
}

bool device_is_among_nodes(int fd)
{
	char name[40], path[PATH_MAX] = "";
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	if (readlink(name, path, sizeof path - 1) < 0)
		return false;
	return is_below(path, "/dev") && !is_below(path, "/dev/shm");
}

int device_refuse_file(int folder_fd, const char *path, struct err *e)
{
	if (!device_is_among_nodes(folder_fd))
		return 0;
	return err_set(e, -ENODEV,
		       "%s: no such device (is it connected, and its name right? lsblk lists "
		       "devices; a file here would be in memory and lost at reboot: use another "
		       "directory, such as /srv)",
		       path);
}

const char *device_memory_name(int fd)
{
	struct statfs fs;
	if (fstatfs(fd, &fs) < 0)
		return NULL;
	return fs.f_type == TMPFS_MAGIC ? "tmpfs" : fs.f_type == RAMFS_MAGIC ? "ramfs" : NULL;
}

static bool find_swap(dev_t rdev, char *ret, size_t size)
{
	FILE *f = fopen("/proc/swaps", "re");
	if (!f)
		return false;
	bool is_found = false;
	char line[512], path[256];
	while (!is_found && fgets(line, sizeof(line), f)) {
		struct stat st;
		is_found = sscanf(line, "%255s", path) == 1 && path[0] == '/' &&
			   stat(path, &st) == 0 && S_ISBLK(st.st_mode) &&
			   is_part_of(st.st_rdev, rdev);
	}
	fclose(f);
	if (is_found)
		snprintf(ret, size, "used as swap");
	return is_found;
}

static bool find_holder(dev_t rdev, char *ret, size_t size)
{
	char path[80];
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/holders", major(rdev), minor(rdev));
	DIR *d = opendir(path);
	if (!d)
		return false;
	bool is_found = false;
	for (struct dirent *entry; !is_found && (entry = readdir(d));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(ret, size, "held by %s (LVM, RAID or encryption)", entry->d_name);
		is_found = true;
	}
	closedir(d);
	return is_found;
}

void device_user(dev_t rdev, char *ret, size_t size)
{
	if (!find_mount(rdev, ret, size) && !find_swap(rdev, ret, size) &&
	    !find_holder(rdev, ret, size))
		snprintf(ret, size, "in use by another program");
}

static bool name_signature(blkid_probe probe, char *ret, size_t size)
{
	const char *what, *usage = "";
	if (blkid_probe_lookup_value(probe, "TYPE", &what, NULL) == 0) {
		blkid_probe_lookup_value(probe, "USAGE", &usage, NULL);
		snprintf(ret, size, "%s%s", what,
			 strcmp(usage, "filesystem") == 0 ? " filesystem" : " signature");
		return true;
	}
	if (blkid_probe_lookup_value(probe, "PTTYPE", &what, NULL) == 0) {
		snprintf(ret, size, "%s partition table", what);
		return true;
	}
	return false;
}

bool device_signature(int fd, char *ret, size_t size)
{
	blkid_probe probe = blkid_new_probe();
	if (!probe)
		return false;
	bool is_found = false;
	if (blkid_probe_set_device(probe, fd, 0, 0) == 0) {
		blkid_probe_enable_superblocks(probe, 1);
		blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE);
		blkid_probe_enable_partitions(probe, 1);
		// -2, ambivalent: several signatures.
		int r = blkid_do_safeprobe(probe);
		if (r == -2)
			snprintf(ret, size, "several signatures");
		is_found = r == -2 || (r == 0 && name_signature(probe, ret, size));
	}
	blkid_free_probe(probe);
	return is_found;
}

int device_refuse_used(dev_t rdev, const char *path, struct err *e)
{
	char user[200];
	device_user(rdev, user, sizeof(user));
	return err_set(e, -EBUSY, "%s: %s (stop that, or set force=true)", path, user);
}

int device_refuse_signed(int fd, const char *path, struct err *e)
{
	char what[80];
	if (!device_signature(fd, what, sizeof(what)))
		return 0;
	return err_set(e, -EBUSY,
		       "%s: not empty: %s (set force=true to serve it with its data, which stays)",
		       path, what);
}
