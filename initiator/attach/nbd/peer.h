// SPDX-License-Identifier: BSD-2-Clause
// The other end of the kernel's socket, served on the disk's worker.
#pragma once

#include "core/err.h"
#include "initiator/disk/disk.h"

struct nbd_peer;

// fd is the peer's, even on failure. ended: as in struct transmission_config, on the worker. Any
// thread but the worker's; blocks until the worker has begun.
int nbd_peer_new(struct nbd_peer **ret, struct disk *d, int fd,
		 void (*ended)(void *arg, const struct err *why), void *arg, struct err *e);
// Requests that the disk has keep their memory until they are done. As new.
void nbd_peer_free(struct nbd_peer *p);
