// SPDX-License-Identifier: BSD-2-Clause
// A device of the kernel's nbd, by generic netlink. The program's thread, may block.
#pragma once

#include <stdint.h>

#include "core/err.h"
#include "initiator/disk/disk.h"
#include "initiator/netlink/genl.h"

#define NBD_ANY (-1) // the kernel chooses a device

// -ENODEV or -EPERM with a text; loads the module if this process is root's.
int nbd_open(struct genl *g, struct err *e);

// Connects a device (NBD_ANY: a free one) to fd, a connected socket, which the kernel keeps. What
// is sent on it waits for dead_seconds for another socket when it ends. Its number in ret.
int nbd_connect(struct genl *g, int device, int fd, const struct disk_facts *facts,
		unsigned dead_seconds, uint32_t *ret, struct err *e);
// Gives a device whose socket has ended another one. -EBUSY with a text: it has not ended.
int nbd_reconnect(struct genl *g, uint32_t device, int fd, const struct disk_facts *facts,
		  struct err *e);
int nbd_resize(struct genl *g, uint32_t device, const struct disk_facts *facts);
// What it has in flight fails.
int nbd_disconnect(struct genl *g, uint32_t device, struct err *e);
