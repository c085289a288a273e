// SPDX-License-Identifier: BSD-2-Clause
// The requests of a ublk device: fetched on the disk's worker, data moved between /dev/ublkcN and
// pool memory by that worker's io_uring, given to the disk, and committed.
//
// All queues are served by the disk's worker: a disk belongs to one, and the hand-over to another
// thread would cost more than a queue does. Several queues still keep the CPUs that use the device
// from sharing a lock in the kernel.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "initiator/disk/disk.h"

struct ublk_server;

struct ublk_server_config {
	int fd; // of /dev/ublkcN, non-blocking; the server's from now on, even on failure
	unsigned queues, depth;
	uint32_t io_bytes_max; // at most BUF_MAX
	// The kernel has ended all requests: the device has stopped. On the worker, once.
	void (*gone)(void *arg);
	void *arg;
};

// Maps the descriptors. Any thread but the worker's; may block.
int ublk_server_new(struct ublk_server **ret, struct disk *d,
		    const struct ublk_server_config *config, struct err *e);
// Fetches. Any thread but the worker's; blocks until the worker has done it.
void ublk_server_start(struct ublk_server *s);
// From now on requests fail, also those that the disk has. As start.
void ublk_server_fail(struct ublk_server *s);
// After gone, or if it was not started. Requests that the disk still has keep their memory until
// they are done. As start. NULL is fine.
void ublk_server_free(struct ublk_server *s);
