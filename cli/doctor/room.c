// SPDX-License-Identifier: BSD-2-Clause
// Space for the files that farblockd saves, and memory for its RAM disks.
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "cli/doctor/doctor.h"
#include "cli/shell/client.h"

enum {
	SPARE_BYTES = 16 << 20, // less is a warning
	SPARE_INODES = 64,
	VERSIONS = 2, // a save writes the new file before it removes the old one
};

static unsigned long long bytes_of(const struct doctor *d, const char *path)
{
	char full[PATH_MAX];
	struct stat st;
	return doctor_place(d, full, path) && !stat(full, &st) ? (unsigned long long)st.st_size : 0;
}

struct judgement {
	enum verdict verdict;
	const char *why, *fix;
};

// A change needs space and inodes in a directory. Some filesystems do not count inodes.
static const struct judgement *judge(const struct statvfs *fs, unsigned long long room,
				     unsigned long long needed)
{
	// clang-format off
	static const struct judgement rows[] = {
		{ DOCTOR_FAIL, "no change can be saved: the filesystem is read-only", "remount it read-write" },
		{ DOCTOR_FAIL, "the next change cannot be saved", "remove files there, or add space" },
		{ DOCTOR_WARN, "no change can be saved when the filesystem is full", "remove files there, or add space" },
		{ DOCTOR_OK, NULL, NULL },
	};
	// clang-format on
	bool has_inodes = fs->f_files;
	if (fs->f_flag & ST_RDONLY)
		return &rows[0];
	if (room < needed || !room || (has_inodes && fs->f_favail < VERSIONS))
		return &rows[1];
	if (room < needed + SPARE_BYTES || (has_inodes && fs->f_favail < SPARE_INODES))
		return &rows[2];
	return &rows[3];
}

static void look_at(struct doctor *d, const char *object, const char *path,
		    unsigned long long needed)
{
	char full[PATH_MAX];
	struct statvfs fs;
	if (!doctor_place(d, full, path) || statvfs(full, &fs) < 0) {
		doctor_skip(d, object, "%.200s: %s", path, strerror(errno));
		return;
	}
	unsigned long long room = (unsigned long long)fs.f_bavail * fs.f_frsize;
	const struct judgement *v = judge(&fs, room, needed);
	struct finding f = { v->verdict, object, v->why, v->fix };
	char left[DOCTOR_SIZE_SIZE];
	doctor_say(d, &f, "%.200s: %s and %llu inodes free", path, doctor_size(left, room),
		   (unsigned long long)fs.f_favail);
}

void check_space(struct doctor *d)
{
	struct json_object *root = doctor_info(d, "/");
	const char *file = text_field(root, "saved_file"), *state = text_field(root, "state_dir");
	const char *slash = strrchr(file, '/');
	if (!root)
		doctor_skip(d, NULL, "farblockd does not answer");
	if (slash) {
		char folder[PATH_MAX];
		snprintf(folder, sizeof folder, "%.*s", slash == file ? 1 : (int)(slash - file),
			 file);
		look_at(d, "saved file", folder, VERSIONS * bytes_of(d, file));
	}
	if (*state)
		look_at(d, "state", state, 0);
	json_object_put(root);
}

// ---- memory ----

static unsigned long long mem_total(const struct doctor *d)
{
	char text[4096];
	doctor_read(d, text, sizeof text, "/proc/meminfo");
	const char *at = strstr(text, "MemTotal:");
	return at ? strtoull(at + strlen("MemTotal:"), NULL, 10) << 10 : 0;
}

// The lowest memory limit of the daemon's control group and its ancestors (cgroups(7), version 2);
// most if there is no limit.
static unsigned long long group_limit(struct doctor *d, unsigned long long most)
{
	char text[4096], limit[32];
	doctor_read(d, text, sizeof text, "/proc/%d/cgroup", doctor_daemon_pid(d));
	char *path = strstr(text, "0::/"), *slash = NULL;
	if (!path || (path != text && path[-1] != '\n'))
		return most;
	path += strlen("0::");
	path[strcspn(path, "\n")] = 0;
	do {
		doctor_read(d, limit, sizeof limit, "/sys/fs/cgroup%s/memory.max", path);
		unsigned long long bytes = strtoull(limit, NULL, 10); // "max" is 0
		if (bytes && bytes < most)
			most = bytes;
		slash = strrchr(path, '/');
		if (slash)
			*slash = 0;
	} while (slash && *path);
	return most;
}

void doctor_ram_disks(struct doctor *d, unsigned long long bytes)
{
	unsigned long long total = mem_total(d), limit = group_limit(d, total);
	struct finding f = doctor_judge(
		bytes <= limit, DOCTOR_WARN, "RAM disks",
		"if initiators fill them, memory runs out and the kernel may kill farblockd: their "
		"data is lost",
		limit < total ? "use smaller RAM disks, or raise MemoryMax= of the service"
			      : "use smaller RAM disks, or fileio on a disk");
	char use[DOCTOR_SIZE_SIZE], most[DOCTOR_SIZE_SIZE];
	doctor_say(d, &f, "can use %s; %s %s", doctor_size(use, bytes),
		   limit < total ? "farblockd's control group is limited to" : "this machine has",
		   doctor_size(most, limit));
}
