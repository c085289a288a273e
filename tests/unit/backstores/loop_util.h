// SPDX-License-Identifier: BSD-2-Clause
// A loop device over a file, for tests of what needs a real block device. It detaches itself after
// its last close, so that a killed test leaves none behind.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct loop {
	int fd; // keeps it attached
	char path[40];
};

// One attempt; another process may be faster at taking the free device.
static inline int loop_try(struct loop *l, int control, int file, unsigned block_size,
			   bool is_readonly)
{
	int number = ioctl(control, LOOP_CTL_GET_FREE);
	if (number < 0)
		return -errno;
	snprintf(l->path, sizeof(l->path), "/dev/loop%d", number);
	l->fd = open(l->path, O_RDWR | O_CLOEXEC);
	if (l->fd < 0)
		return -errno;
	struct loop_config c = { .fd = (unsigned)file, .block_size = block_size };
	c.info.lo_flags = LO_FLAGS_AUTOCLEAR | (is_readonly ? LO_FLAGS_READ_ONLY : 0);
	if (ioctl(l->fd, LOOP_CONFIGURE, &c) == 0)
		return 0;
	int r = -errno;
	close(l->fd);
	return r;
}

// 0, or a negative errno.
static inline int loop_attach(struct loop *l, const char *file_path, unsigned block_size,
			      bool is_readonly)
{
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	if (control < 0)
		return -errno;
	int file = open(file_path, O_RDWR | O_CLOEXEC), r = file < 0 ? -errno : -EBUSY;
	for (int i = 0; i < 20 && r == -EBUSY; i++)
		r = loop_try(l, control, file, block_size, is_readonly);
	if (file >= 0)
		close(file);
	close(control);
	return r;
}

static inline void loop_detach(struct loop *l)
{
	close(l->fd);
}
