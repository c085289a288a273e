// SPDX-License-Identifier: BSD-2-Clause
// Commands to /dev/ublk-control. The program's thread.
#include "initiator/attach/ublk/control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "initiator/attach/module.h"

#define NEEDS "modprobe ublk_drv (Linux 6.5 or later)"
#define QUICK 30 // seconds for what the kernel does at once

static int open_device(struct err *e)
{
	int fd = open(UBLK_CONTROL, O_RDWR | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && !module_load("ublk_drv"))
		fd = open(UBLK_CONTROL, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	if (errno == ENOENT || errno == ENODEV)
		return err_set(e, -ENODEV, "ublk: this kernel has no " UBLK_CONTROL ": " NEEDS);
	return err_errno(e, -errno, "ublk: " UBLK_CONTROL "%s",
			 errno == EACCES || errno == EPERM ? " (run as root)" : "");
}

static int features(struct ublk_control *c, uint64_t *ret)
{
	struct ublk_command command = {
		.device = UBLK_ANY,
		.queue = UBLK_NO_QUEUE,
		.addr = (uintptr_t)ret,
		.len = sizeof *ret,
	};

	*ret = 0;
	return ublk_control_do(c, UBLK_FEATURES, &command, QUICK);
}

int ublk_control_open(struct ublk_control *c, uint64_t *ret_features, struct err *e)
{
	*c = (struct ublk_control){ .fd = open_device(e) };
	if (c->fd < 0)
		return c->fd;
	int r = io_uring_queue_init(4, &c->ring, IORING_SETUP_SQE128);
	if (r < 0) {
		close(c->fd);
		return err_errno(e, r,
				 "ublk: io_uring (Linux 6.5 or later; sysctl "
				 "kernel.io_uring_disabled=0)");
	}
	r = features(c, ret_features);
	if (!r && *ret_features & UBLK_USER_COPY)
		return 0;
	ublk_control_close(c);
	if (r == -EPERM || r == -EACCES)
		return err_errno(e, r, "ublk: " UBLK_CONTROL " (run as root)");
	return err_set(e, -EOPNOTSUPP,
		       "ublk: the driver of this kernel is too old (Linux 6.5 or "
		       "later)");
}

void ublk_control_close(struct ublk_control *c)
{
	io_uring_queue_exit(&c->ring);
	close(c->fd);
}

int ublk_control_do(struct ublk_control *c, uint32_t op, const struct ublk_command *command,
		    unsigned seconds)
{
	struct io_uring_sqe *sqe = c->is_pending ? NULL : io_uring_get_sqe(&c->ring);

	if (!sqe)
		return -EBUSY;
	memset(sqe, 0, 2 * sizeof *sqe);
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = c->fd;
	sqe->cmd_op = op;
	memcpy(sqe->cmd, command, sizeof *command);
	int r = io_uring_submit(&c->ring);
	if (r < 0)
		return r;
	c->is_pending = true;
	return ublk_control_wait(c, seconds);
}

int ublk_control_wait(struct ublk_control *c, unsigned seconds)
{
	struct __kernel_timespec timeout = { .tv_sec = seconds };
	struct io_uring_cqe *cqe;

	if (!c->is_pending)
		return 0;
	int r;
	do
		r = io_uring_wait_cqe_timeout(&c->ring, &cqe, &timeout);
	while (r == -EINTR);
	if (r < 0)
		return r == -ETIME ? -ETIMEDOUT : r;
	r = cqe->res;
	io_uring_cqe_seen(&c->ring, cqe);
	c->is_pending = false;
	return r;
}
