// SPDX-License-Identifier: BSD-2-Clause
// See loop.h. linux/loop.h; the file of a device is that of sysfs, since opening a device that is
// being cleared would delay its end.
#include "initiator/attach/fuse/loop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TRIES	 16
#define PAUSE_NS 20000000l

void loop_path(char ret[LOOP_PATH_MAX], int number)
{
	snprintf(ret, LOOP_PATH_MAX, "/dev/loop%d", number);
}

static int loop_open(int number, int flags)
{
	char path[LOOP_PATH_MAX];

	loop_path(path, number);
	int fd = open(path, flags | O_CLOEXEC);
	for (unsigned i = 0; fd < 0 && errno == ENOENT && i < 50; i++) { // udev is making it
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
		fd = open(path, flags | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

static bool is_of(int number, const char *file)
{
	char path[64], line[PATH_MAX + 2];

	snprintf(path, sizeof path, "/sys/block/loop%d/loop/backing_file", number);
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	size_t len = fread(line, 1, sizeof line - 1, f);
	fclose(f);
	len -= len && line[len - 1] == '\n'; // further ones are the path's
	line[len] = 0;
	return !strcmp(line, file);
}

// ---- making ----

static int configure(int number, struct loop_config *c)
{
	int fd = loop_open(number, O_RDWR);

	if (fd < 0)
		return fd;
	int r = ioctl(fd, LOOP_CONFIGURE, c) < 0 ? -errno : 0;
	if (r == -EINVAL && c->info.lo_flags & LO_FLAGS_DIRECT_IO) {
		c->info.lo_flags &= ~(unsigned)LO_FLAGS_DIRECT_IO;
		r = ioctl(fd, LOOP_CONFIGURE, c) < 0 ? -errno : 0;
	}
	close(fd);
	return r;
}

// Another program may take the free device first.
static int take_free(int *ret, struct loop_config *c)
{
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), r = -EBUSY;

	if (control < 0)
		return -errno;
	for (unsigned i = 0; r == -EBUSY && i < TRIES; i++) {
		*ret = ioctl(control, LOOP_CTL_GET_FREE);
		r = *ret < 0 ? -errno : configure(*ret, c);
	}
	close(control);
	return r;
}

int loop_new(int *ret, const char *file, uint32_t block_size, bool is_read_only, struct err *e)
{
	struct loop_config c = {
		.block_size = block_size,
		.info.lo_flags = LO_FLAGS_PARTSCAN | LO_FLAGS_DIRECT_IO |
				 (is_read_only ? LO_FLAGS_READ_ONLY : 0),
	};
	int fd = open(file, (is_read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);

	if (fd < 0)
		return err_errno(e, -errno, "fuse: %s", file);
	c.fd = (uint32_t)fd;
	snprintf((char *)c.info.lo_file_name, sizeof c.info.lo_file_name, "%s", file);
	int r = take_free(ret, &c);
	close(fd);
	if (r == -EINVAL && block_size > 4096)
		return err_set(e, r,
			       "fuse: the kernel makes no loop device with blocks of %u bytes",
			       block_size);
	return r < 0 ? err_errno(e, r, "fuse: a loop device for %s", file) : 0;
}

void loop_resize(int number, const char *file)
{
	struct stat st;
	int fd = loop_open(number, O_RDONLY);

	if (fd < 0)
		return;
	// The last size that the kernel gets is the one in force.
	if (stat(file, &st) < 0 || ioctl(fd, LOOP_SET_CAPACITY) < 0)
		errno = 0; // the device keeps its size
	close(fd);
}

// ---- finding and clearing ----

int loop_find(const char *file)
{
	DIR *d = opendir("/sys/block");
	int number, found = -1;

	for (struct dirent *entry; d && found < 0 && (entry = readdir(d));)
		if (sscanf(entry->d_name, "loop%d", &number) == 1 && is_of(number, file))
			found = number;
	if (d)
		closedir(d);
	return found;
}

// What LOOP_CLR_FD of a device that is open leaves: cleared at its last close.
static void keep(int number)
{
	struct loop_info64 info;
	int fd = loop_open(number, O_RDONLY);

	if (fd < 0)
		return;
	if (!ioctl(fd, LOOP_GET_STATUS64, &info)) {
		info.lo_flags &= ~(unsigned)LO_FLAGS_AUTOCLEAR;
		if (ioctl(fd, LOOP_SET_STATUS64, &info) < 0)
			errno = 0; // then it goes with its last user
	}
	close(fd);
}

int loop_clear(int number, const char *file, unsigned seconds, bool is_forced, struct err *e)
{
	char path[LOOP_PATH_MAX];
	unsigned tries = seconds * (1000000000l / PAUSE_NS);

	loop_path(path, number);
	if (!is_of(number, file))
		return 0;
	int fd = loop_open(number, O_RDONLY);
	if (fd < 0)
		return err_errno(e, fd, "%s", path);
	int r = ioctl(fd, LOOP_CLR_FD) < 0 && errno != ENXIO ? -errno : 0;
	close(fd);
	if (r < 0)
		return err_errno(e, r, "%s: clear", path);
	while (is_of(number, file)) {
		if (!tries--) {
			if (!is_forced)
				keep(number);
			return err_set(e, -EBUSY, "%s: still open in another program", path);
		}
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
	}
	return 0;
}
