// SPDX-License-Identifier: BSD-2-Clause
// A device of the kernel's nbd: connect, reconnect, resize, disconnect. The program's thread.
//
// NBD_ATTR_TIMEOUT stays 0: the socket ends with the process at its other end, and a request may
// wait for a target as long as the disk is told to. With a timeout the kernel would send a request
// that waits again on another socket, and an old write could arrive after a newer one. For the same
// reason there is one connection: with several the kernel uses 30 s as a timeout.
#include "initiator/attach/nbd/device.h"

#include <errno.h>
#include <linux/nbd-netlink.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "initiator/attach/module.h"
#include "initiator/attach/nbd_flags.h"

#define NEEDS "modprobe nbd (Linux 4.12 or later)"

enum { PATIENCE = 60 }; // seconds the kernel has for an answer

int nbd_open(struct genl *g, struct err *e)
{
	int r = genl_open(g, NBD_GENL_FAMILY_NAME, PATIENCE);

	if (r == -ENOENT && !module_load("nbd"))
		r = genl_open(g, NBD_GENL_FAMILY_NAME, PATIENCE);
	if (r == -ENOENT)
		return err_set(e, -ENODEV, "nbd: this kernel has no nbd driver: " NEEDS);
	return r < 0 ? err_errno(e, r, "nbd: generic netlink") : 0;
}

static void put_socket(struct netlink_message *m, int fd)
{
	struct nlattr *list = netlink_nest(m, NBD_ATTR_SOCKETS);
	struct nlattr *item = netlink_nest(m, NBD_SOCK_ITEM);

	netlink_put_u32(m, NBD_SOCK_FD, (uint32_t)fd);
	netlink_nest_end(m, item);
	netlink_nest_end(m, list);
}

static uint64_t size_of(const struct disk_facts *f)
{
	return f->blocks * f->block_size;
}

// The kernel shows it in /sys/block/nbdN/backend, for udev, and compares it on a reconnect.
static void put_identity(struct netlink_message *m, const struct disk_facts *f)
{
	if (f->identity[0])
		netlink_put_text(m, NBD_ATTR_BACKEND_IDENTIFIER, f->identity);
}

static int explain(struct err *e, int r, const char *what)
{
	if (r == -EPERM || r == -EACCES)
		return err_errno(e, r, "nbd: %s (run as root)", what);
	return err_errno(e, r, "nbd: %s", what);
}

int nbd_connect(struct genl *g, int device, int fd, const struct disk_facts *f,
		unsigned dead_seconds, uint32_t *ret, struct err *e)
{
	struct netlink_message m;
	struct genl_wanted wanted = { NBD_ATTR_INDEX, sizeof *ret, ret };

	*ret = UINT32_MAX;
	genl_begin(&m, g, NBD_CMD_CONNECT);
	if (device != NBD_ANY)
		netlink_put_u32(&m, NBD_ATTR_INDEX, (uint32_t)device);
	netlink_put_u64(&m, NBD_ATTR_SIZE_BYTES, size_of(f));
	netlink_put_u64(&m, NBD_ATTR_BLOCK_SIZE_BYTES, f->block_size);
	netlink_put_u64(&m, NBD_ATTR_SERVER_FLAGS, nbd_flags_of(f));
	netlink_put_u64(&m, NBD_ATTR_DEAD_CONN_TIMEOUT, dead_seconds);
	put_identity(&m, f);
	put_socket(&m, fd);
	int r = genl_do(g, &m, &wanted);
	if (r == -EBUSY)
		return err_set(e, r, "/dev/nbd%d: it is connected already", device);
	if (r == -EINVAL)
		return err_errno(e, r, "nbd: connect a device with blocks of %u bytes",
				 f->block_size);
	if (r < 0)
		return explain(e, r, "connect a device");
	return *ret == UINT32_MAX ? err_set(e, -EBADMSG, "nbd: the kernel names no device") : 0;
}

// The kernel takes a moment to notice that the process at the other end has died: until then it has
// no dead socket to replace (-ENOSPC).
int nbd_reconnect(struct genl *g, uint32_t device, int fd, const struct disk_facts *f,
		  struct err *e)
{
	int r = -ENOSPC;

	for (unsigned i = 0; r == -ENOSPC && i < 100; i++) {
		struct netlink_message m;
		if (i)
			nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
		genl_begin(&m, g, NBD_CMD_RECONFIGURE);
		netlink_put_u32(&m, NBD_ATTR_INDEX, device);
		put_identity(&m, f);
		put_socket(&m, fd);
		r = genl_do(g, &m, NULL);
	}
	if (r == -ENOSPC)
		return err_set(e, -EBUSY, "/dev/nbd%u: the process that serves it is still there",
			       device);
	if (r == -EINVAL)
		return err_set(e, -ENODEV,
			       "/dev/nbd%u: it is not connected any more, or to another disk",
			       device);
	return r < 0 ? explain(e, r, "take a device over") : 0;
}

int nbd_resize(struct genl *g, uint32_t device, const struct disk_facts *f)
{
	struct netlink_message m;

	genl_begin(&m, g, NBD_CMD_RECONFIGURE);
	netlink_put_u32(&m, NBD_ATTR_INDEX, device);
	put_identity(&m, f);
	netlink_put_u64(&m, NBD_ATTR_SIZE_BYTES, size_of(f));
	netlink_put_u64(&m, NBD_ATTR_BLOCK_SIZE_BYTES, f->block_size);
	return genl_do(g, &m, NULL);
}

int nbd_disconnect(struct genl *g, uint32_t device, struct err *e)
{
	struct netlink_message m;

	genl_begin(&m, g, NBD_CMD_DISCONNECT);
	netlink_put_u32(&m, NBD_ATTR_INDEX, device);
	int r = genl_do(g, &m, NULL);
	return r < 0 ? explain(e, r, "disconnect a device") : 0;
}
