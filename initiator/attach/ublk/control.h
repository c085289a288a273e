// SPDX-License-Identifier: BSD-2-Clause
// Commands to /dev/ublk-control, on an io_uring of its own: the program's thread, may block.
#pragma once

#include <stdbool.h>
#include <liburing.h>

#include "core/err.h"
#include "initiator/attach/ublk/uapi.h"

struct ublk_control {
	int fd;
	struct io_uring ring;
	bool is_pending; // a command that took too long is still with the kernel
};

// Needs Linux 6.5, root and the driver; the text says which is missing. Features of the kernel in
// ret_features.
int ublk_control_open(struct ublk_control *c, uint64_t *ret_features, struct err *e);
// A command still with the kernel goes on there.
void ublk_control_close(struct ublk_control *c);
// The result of a command, negative errno; -ETIMEDOUT after so many seconds: it is still with the
// kernel, and the next command is to be ublk_control_wait().
int ublk_control_do(struct ublk_control *c, uint32_t op, const struct ublk_command *command,
		    unsigned seconds);
// Waits for it again; at once 0 if none is pending.
int ublk_control_wait(struct ublk_control *c, unsigned seconds);
