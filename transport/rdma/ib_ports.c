// SPDX-License-Identifier: BSD-2-Clause
#include "transport/rdma/ib_ports.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_SIZE = 64 };

// The first line of a file of a port, "" if it cannot be read.
static void read_line(char out[TEXT_SIZE], const char *folder, const struct ib_port *p,
		      const char *file)
{
	char path[512];
	ssize_t n = -1;
	snprintf(path, sizeof path, "%s/%s/ports/%u/%s", folder, p->device, p->number, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		n = read(fd, out, TEXT_SIZE - 1);
		close(fd);
	}
	out[n > 0 ? n : 0] = 0;
	out[strcspn(out, "\n")] = 0;
}

// False: the link layer is another one. Without the file it is InfiniBand, as with old kernels.
static bool port_read(const char *folder, struct ib_port *p)
{
	char text[TEXT_SIZE];
	read_line(text, folder, p, "link_layer");
	if (*text && strcmp(text, "InfiniBand"))
		return false;
	read_line(text, folder, p, "state");
	p->is_active = strtoul(text, NULL, 10) == 4;
	read_line(text, folder, p, "gids/0");
	if (inet_pton(AF_INET6, text, p->gid) != 1)
		memset(p->gid, 0, sizeof p->gid);
	return true;
}

static unsigned add_ports(const char *folder, const char *device, struct ib_port *ret, unsigned max)
{
	char path[512];
	unsigned count = 0;
	snprintf(path, sizeof path, "%s/%s/ports", folder, device);
	DIR *d = strlen(device) < IB_DEVICE_SIZE ? opendir(path) : NULL;
	if (!d)
		return 0;
	for (struct dirent *e; count < max && (e = readdir(d));) {
		struct ib_port *p = &ret[count];
		memset(p, 0, sizeof *p);
		snprintf(p->device, sizeof p->device, "%s", device);
		p->number = (unsigned)strtoul(e->d_name, NULL, 10);
		if (p->number && port_read(folder, p))
			count++;
	}
	closedir(d);
	return count;
}

static int by_name(const void *a, const void *b)
{
	const struct ib_port *x = a, *y = b;
	int order = strcmp(x->device, y->device);
	return order ? order : (x->number > y->number) - (x->number < y->number);
}

unsigned ib_ports_in(const char *folder, struct ib_port *ret, unsigned max)
{
	DIR *d = opendir(folder);
	unsigned count = 0;
	if (!d)
		return 0;
	for (struct dirent *e; count < max && (e = readdir(d));)
		if (e->d_name[0] != '.')
			count += add_ports(folder, e->d_name, ret + count, max - count);
	closedir(d);
	qsort(ret, count, sizeof *ret, by_name);
	return count;
}

unsigned ib_ports(struct ib_port *ret, unsigned max)
{
	return ib_ports_in("/sys/class/infiniband", ret, max);
}
