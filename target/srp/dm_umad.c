// SPDX-License-Identifier: BSD-2-Clause
// Device management datagrams through the kernel's ib_umad: /dev/infiniband/umad*, by libibumad.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/srp/dm_link.h"
#include "transport/wire/be.h"

#define SYS_MAD "/sys/class/infiniband_mad"
#define SYS_IB	"/sys/class/infiniband"

// --- ports ---

// The first word of a file.
static bool read_word(char out[DM_DEVICE_SIZE], const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	ssize_t n = read(fd, out, DM_DEVICE_SIZE - 1);
	close(fd);
	out[n > 0 ? n : 0] = 0;
	out[strcspn(out, " \n")] = 0;
	return out[0];
}

// Ports of Ethernet have umad nodes too.
static bool is_infiniband(const struct dm_port_name *p)
{
	char path[256], layer[DM_DEVICE_SIZE];

	snprintf(path, sizeof path, SYS_IB "/%s/ports/%u/link_layer", p->device, p->port);
	return !read_word(layer, path) || !strcmp(layer, "InfiniBand");
}

static bool port_read(struct dm_port_name *ret, const char *node)
{
	char path[512], number[DM_DEVICE_SIZE];

	snprintf(path, sizeof path, SYS_MAD "/%s/ibdev", node);
	if (strncmp(node, "umad", 4) || !read_word(ret->device, path))
		return false;
	snprintf(path, sizeof path, SYS_MAD "/%s/port", node);
	if (!read_word(number, path))
		return false;
	ret->port = (unsigned)strtoul(number, NULL, 10);
	return is_infiniband(ret);
}

static unsigned ports(struct dm_port_name *ret, unsigned max)
{
	static bool has_begun;
	DIR *d = opendir(SYS_MAD);
	unsigned count = 0;

	if (!d)
		return 0;
	for (struct dirent *e; count < max && (e = readdir(d));) {
		memset(&ret[count], 0, sizeof *ret);
		if (port_read(&ret[count], e->d_name))
			count++;
	}
	closedir(d);
	if (count && !has_begun) // not earlier: it complains if the module is missing
		has_begun = umad_init() == 0;
	return count;
}

// --- datagrams ---

enum { LONGEST = 2048 }; // of Omni-Path; the kernel keeps one that does not fit

static int open_error(struct err *e, const char *what, int error)
{
	if (error == EACCES || error == EPERM)
		return err_errno(e, -error, "%s (root, or access to /dev/infiniband/umad*)", what);
	return err_errno(e, -error, "%s", what);
}

static int link_open(struct dm_link *ret, const struct dm_port_name *name, struct err *e)
{
	long methods[16 / sizeof(long)] = { 1 << DM_GET | 1 << DM_SET };
	int fd;

	errno = 0;
	fd = umad_open_port(name->device, (int)name->port);
	if (fd < 0)
		return open_error(e, "open", errno ? errno : ENODEV);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	ret->fd = fd;
	ret->agent = umad_register(fd, DM_CLASS, DM_CLASS_VERSION, 0, methods);
	if (ret->agent >= 0)
		return 0;
	umad_close_port(fd);
	return err_set(e, -EBUSY,
		       "another program or ib_srpt answers device management (rmmod ib_srpt)");
}

static void link_close(struct dm_link *l)
{
	umad_unregister(l->fd, l->agent);
	umad_close_port(l->fd);
}

// The address is that of the requester, GRH and partition included.
static void reply(struct dm_link *l, struct ib_user_mad *umad, const struct dm_mad *mad)
{
	put_be32(&umad->addr.qkey, DM_QKEY);
	memcpy(umad_get_mad(umad), mad, sizeof *mad);
	umad_send(l->fd, l->agent, umad, sizeof *mad, 0, 0); // lost: the peer asks again
}

static int serve(struct dm_link *l, const struct srp_io_unit *u, struct err *e)
{
	_Alignas(8) uint8_t space[sizeof(struct ib_user_mad) + LONGEST] = { 0 };
	struct ib_user_mad *umad = (struct ib_user_mad *)space;
	int len = LONGEST;
	struct dm_mad mad;

	int r = umad_recv(l->fd, umad, &len, 0);
	if (r < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return 0;
	if (r < 0)
		return err_errno(e, errno ? -errno : -EIO, "receive");
	if (!umad_status(umad) && len == DM_MAD_LEN &&
	    srp_dm_answer(u, umad_get_mad(umad), DM_MAD_LEN, &mad))
		reply(l, umad, &mad);
	return 1;
}

const struct dm_link_ops dm_umad = {
	.ports = ports,
	.open = link_open,
	.serve = serve,
	.close = link_close,
};
