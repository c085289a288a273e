// SPDX-License-Identifier: BSD-2-Clause
// Files and devices behind the disks that farblockd serves: whether they still exist, whether they
// are mounted, and whether there is space for everything that initiators can write.
#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include "cli/doctor/doctor.h"
#include "cli/shell/client.h"

// Finds the mount point of a device in the fields "major:minor root place" of mountinfo (proc(5)).
static bool is_mounted(struct doctor *d, const struct stat *st, char place[128])
{
	static char text[1 << 20];
	char wanted[40], *rest = NULL;
	snprintf(wanted, sizeof wanted, "%u:%u", major(st->st_rdev), minor(st->st_rdev));
	doctor_read(d, text, sizeof text, "/proc/self/mountinfo");
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char device[40];
		if (sscanf(line, "%*s %*s %39s %*s %127s", device, place) == 2 &&
		    !strcmp(device, wanted))
			return true;
	}
	return false;
}

static void device(struct doctor *d, const char *path, const struct stat *st)
{
	char place[128], text[32];
	unsigned high = major(st->st_rdev), low = minor(st->st_rdev);
	if (is_mounted(d, st, place)) {
		struct finding f = { DOCTOR_FAIL, path,
				     "this machine and initiators write to it without coordination",
				     "umount it, or delete its LUNs" };
		doctor_say(d, &f, "mounted at %s", place);
		return;
	}
	doctor_read(d, text, sizeof text, "/sys/dev/block/%u:%u/ro", high, low);
	if (*text == '1') {
		struct finding f = { DOCTOR_WARN, path, "initiators cannot write to it",
				     "blockdev --setrw, if initiators must write" };
		doctor_say(d, &f, "the block device is read-only");
		return;
	}
	doctor_read(d, text, sizeof text, "/sys/dev/block/%u:%u/queue/discard_max_bytes", high,
		    low);
	doctor_ok(d, path, "not mounted%s",
		  !strcmp(text, "0") ? "; no discard: space that initiators free stays allocated"
				     : "");
}

static void file(struct doctor *d, const char *path, const char *name, const struct stat *st)
{
	struct statvfs fs;
	unsigned long long have = (unsigned long long)st->st_blocks * 512;
	unsigned long long size = (unsigned long long)st->st_size;
	unsigned long long missing = size > have ? size - have : 0;
	if (statvfs(name, &fs) < 0)
		return;
	unsigned long long room = (unsigned long long)fs.f_bavail * fs.f_frsize;
	char growth[DOCTOR_SIZE_SIZE], left[DOCTOR_SIZE_SIZE];
	struct finding f = doctor_judge(
		missing <= room, DOCTOR_WARN, path,
		"writes of initiators fail when the filesystem is full",
		"add space, or use a smaller disk (fallocate reserves the space of a disk)");
	doctor_say(d, &f, "can grow by %s; its filesystem has %s free",
		   doctor_size(growth, missing), doctor_size(left, room));
}

static void memory(struct doctor *d, const char *path, const char *name)
{
	struct finding f = { DOCTOR_WARN, path, "its data is lost when this machine reboots",
			     "delete it and use the device (lsblk), or a file in another "
			     "directory" };
	doctor_say(d, &f, "%.200s is a file in memory", name);
}

static void at_path(struct doctor *d, const char *path, const char *name)
{
	struct stat st;
	int r = stat(name, &st) < 0 ? errno : 0;
	if (!r && S_ISBLK(st.st_mode))
		device(d, path, &st);
	else if ((!r || r == ENOENT || r == ENOTDIR) && doctor_removed(d, path, name))
		; // reported
	else if (r)
		doctor_skip(d, path, "%.200s: %s", name, strerror(r));
	else
		file(d, path, name, &st);
}

static void disk(struct doctor *d, void *arg, const char *path, struct json_object *node)
{
	unsigned long long *ram = arg;
	struct json_object *o = doctor_info(d, path);
	const char *name = text_field(o, "dev"), *plugin = text_field(o, "plugin");
	bool is_ours = !strcmp(plugin, "block") || !strcmp(plugin, "fileio");
	bool is_empty = !strncmp(text_field(o, "summary"), "nullio ", 7); // uses no memory
	if (!strcmp(plugin, "ramdisk") && !is_empty)
		*ram += json_object_get_uint64(json_field(o, "size"));
	if (is_ours && *name == '/' && !strcmp(text_field(o, "state"), "open"))
		at_path(d, path, name); // else without a file or device, or waiting
	if (json_object_get_boolean(json_field(o, "lost_at_reboot")))
		memory(d, path, name);
	json_object_put(o);
}

void check_disks(struct doctor *d)
{
	unsigned long long ram = 0;
	struct json_object *tree = doctor_ask(d, "tree.ls");
	if (!tree)
		doctor_skip(d, NULL, "farblockd does not answer");
	doctor_each_node(d, tree, "storage", &ram, disk);
	json_object_put(tree);
	if (ram)
		doctor_ram_disks(d, ram);
}
