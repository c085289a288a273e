// SPDX-License-Identifier: BSD-2-Clause
// Device management datagrams through the kernel's ib_umad: /dev/infiniband/umad*, by libibumad.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <string.h>
#include <unistd.h>

#include "target/srp/dm_link.h"
#include "transport/rdma/ib_ports.h"
#include "transport/wire/be.h"

// --- ports ---

static unsigned ports(struct dm_port_name *ret, unsigned max)
{
	struct ib_port found[DM_PORTS_MAX];
	unsigned count = ib_ports(found, max < DM_PORTS_MAX ? max : DM_PORTS_MAX);

	for (unsigned i = 0; i < count; i++) {
		memset(&ret[i], 0, sizeof ret[i]);
		memcpy(ret[i].device, found[i].device, sizeof ret[i].device);
		ret[i].port = found[i].number;
	}
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

// Not earlier: libibumad complains if the module is missing.
static bool is_ready(void)
{
	static bool has_begun;
	DIR *d = has_begun ? NULL : opendir("/sys/class/infiniband_mad");

	if (d)
		has_begun = umad_init() == 0;
	if (d)
		closedir(d);
	return has_begun;
}

static int link_open(struct dm_link *ret, const struct dm_port_name *name, struct err *e)
{
	long methods[16 / sizeof(long)] = { 1 << DM_GET | 1 << DM_SET };
	int fd;

	if (!is_ready())
		return err_set(e, -ENODEV, "the port has no umad device (modprobe ib_umad)");
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
