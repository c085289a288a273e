// SPDX-License-Identifier: BSD-2-Clause
// Who uses a block device: its mounts (/proc/self/mountinfo), swap (/proc/swaps), the devices made
// of it (sysfs), the programs that have it open (/proc/PID/fd). The program's thread.
#include "initiator/attach/use.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "initiator/attach/escapes.h"

enum {
	PARTS_MAX = 256,
	CLAIM_MS = 3000, // how long a claim is given to end
	CLAIM_PAUSE_MS = 50,
};

struct target { // a disk and its partitions
	const char *path;
	dev_t devices[PARTS_MAX];
	unsigned count;
};

static bool is_of(const struct target *t, dev_t device)
{
	for (unsigned i = 0; i < t->count; i++)
		if (t->devices[i] == device)
			return true;
	return false;
}

static bool is_at(const struct target *t, const char *path)
{
	struct stat st;

	return *path == '/' && !stat(path, &st) && S_ISBLK(st.st_mode) && is_of(t, st.st_rdev);
}

// ---- sysfs ----

static void add_part(struct target *t, const char *folder, const char *name)
{
	char path[PATH_MAX], line[32] = "";
	unsigned major, minor;

	snprintf(path, sizeof path, "%s/%s/dev", folder, name);
	FILE *f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(line, sizeof line, f) && sscanf(line, "%u:%u", &major, &minor) == 2 &&
	    t->count < PARTS_MAX)
		t->devices[t->count++] = makedev(major, minor);
	fclose(f);
}

// Calls fn for the entries of a folder that do not begin with a dot, until it returns not 0.
static int each(const char *folder, int (*fn)(void *arg, const char *folder, const char *name),
		void *arg)
{
	DIR *dir = opendir(folder);
	int r = 0;

	if (!dir)
		return 0;
	for (struct dirent *entry; !r && (entry = readdir(dir));)
		if (entry->d_name[0] != '.')
			r = fn(arg, folder, entry->d_name);
	closedir(dir);
	return r;
}

static int part_found(void *arg, const char *folder, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s/partition", folder, name);
	if (!access(path, F_OK))
		add_part(arg, folder, name);
	return 0;
}

struct search {
	const struct target *target;
	struct err *e;
};

static int holder_found(void *arg, const char *folder, const char *name)
{
	struct search *s = arg;

	return err_set(s->e, -EBUSY, "%s: used by %s", s->target->path, name);
}

static int check_holders(const struct target *t, struct err *e)
{
	struct search s = { t, e };
	int r = 0;

	for (unsigned i = 0; !r && i < t->count; i++) {
		char folder[64];
		snprintf(folder, sizeof folder, "/sys/dev/block/%u:%u/holders",
			 major(t->devices[i]), minor(t->devices[i]));
		r = each(folder, holder_found, &s);
	}
	return r;
}

// ---- mounts and swap ----

// "36 35 98:0 /root /mnt rw,noatime master:1 - ext4 /dev/sda1 rw": a filesystem of several devices
// has a number of its own and is known by the source alone.
static int check_mount(const struct target *t, char *line, struct err *e)
{
	unsigned major, minor;
	char root[PATH_MAX], at[PATH_MAX], type[64], source[PATH_MAX] = "";
	char *rest = strstr(line, " - ");

	if (!rest || sscanf(line, "%*d %*d %u:%u %4095s %4095s", &major, &minor, root, at) != 4)
		return 0;
	sscanf(rest, " - %63s %4095s", type, source);
	escapes_undo(source);
	escapes_undo(at);
	if (is_of(t, makedev(major, minor)) || is_at(t, source))
		return err_set(e, -EBUSY, "%s: mounted at '%s'", t->path, at);
	return 0;
}

static int check_swap(const struct target *t, char *line, struct err *e)
{
	char path[PATH_MAX];

	if (sscanf(line, "%4095s", path) != 1)
		return 0;
	escapes_undo(path);
	return is_at(t, path) ? err_set(e, -EBUSY, "%s: used as swap", t->path) : 0;
}

static int each_line(const char *file, const struct target *t,
		     int (*fn)(const struct target *t, char *line, struct err *e), struct err *e)
{
	FILE *f = fopen(file, "re");
	char *line = NULL;
	size_t size = 0;
	int r = 0;

	while (f && !r && getline(&line, &size, f) > 0)
		r = fn(t, line, e);
	free(line);
	if (f)
		fclose(f);
	return r;
}

// ---- programs ----

static int descriptor_found(void *arg, const char *folder, const char *name)
{
	struct search *s = arg;
	char path[PATH_MAX], program[32] = "?";
	int pid = 0;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	if (!is_at(s->target, path))
		return 0;
	sscanf(folder, "/proc/%d", &pid);
	snprintf(path, sizeof path, "/proc/%d/comm", pid);
	FILE *f = fopen(path, "re");
	if (f && fgets(program, sizeof program, f))
		program[strcspn(program, "\n")] = 0;
	if (f)
		fclose(f);
	return err_set(s->e, -EBUSY, "%s: opened by '%s' (pid %d)", s->target->path, program, pid);
}

static int process_found(void *arg, const char *folder, const char *name)
{
	char path[64];

	if (!isdigit(name[0]) || atoi(name) == getpid())
		return 0;
	snprintf(path, sizeof path, "%s/%.20s/fd", folder, name);
	return each(path, descriptor_found, arg);
}

// ---- the whole ----

static int find(struct target *t, const char *path, struct err *e)
{
	char folder[64];
	struct stat st;

	*t = (struct target){ .path = path };
	if (stat(path, &st) < 0)
		return err_errno(e, -errno, "%s", path);
	if (!S_ISBLK(st.st_mode))
		return err_set(e, -ENOTBLK, "%s: not a block device", path);
	t->devices[t->count++] = st.st_rdev;
	snprintf(folder, sizeof folder, "/sys/dev/block/%u:%u", major(st.st_rdev),
		 minor(st.st_rdev));
	return each(folder, part_found, t);
}

static bool is_claimed(const char *path)
{
	int fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EBUSY;
}

// What the kernel itself has claimed, and what the lists do not show: a file system that was just
// unmounted, for a moment, or one that is mounted in another mount namespace.
static int check_claim(const struct target *t, struct err *e)
{
	const struct timespec pause = { .tv_nsec = CLAIM_PAUSE_MS * 1000000l };

	for (unsigned ms = 0; is_claimed(t->path); ms += CLAIM_PAUSE_MS) {
		if (ms >= CLAIM_MS)
			return err_set(e, -EBUSY, "%s: in use (perhaps mounted in a container)",
				       t->path);
		nanosleep(&pause, NULL);
	}
	return 0;
}

int use_check(const char *path, struct err *e)
{
	struct target t;
	int r = find(&t, path, e);
	struct search s = { &t, e };

	if (!r)
		r = each_line("/proc/self/mountinfo", &t, check_mount, e);
	if (!r)
		r = each_line("/proc/swaps", &t, check_swap, e);
	if (!r)
		r = check_holders(&t, e);
	if (!r)
		r = each("/proc", process_found, &s);
	return r ? r : check_claim(&t, e);
}

bool use_is_gone(const char *device)
{
	char path[PATH_MAX];
	unsigned long long sectors = 0;
	const char *slash = strrchr(device, '/');

	snprintf(path, sizeof path, "/sys/class/block/%s/size", slash ? slash + 1 : device);
	FILE *f = fopen(path, "re");
	bool has_size = f && fscanf(f, "%llu", &sectors) == 1 && sectors;
	if (f)
		fclose(f);
	return !has_size;
}
