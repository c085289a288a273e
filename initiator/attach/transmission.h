// SPDX-License-Identifier: BSD-2-Clause
// The transmission phase of the NBD protocol, as the server: requests from a connected stream
// socket are done by a disk. For the kernel's nbd, and for clients after their negotiation.
//
// On the disk's worker. Data goes between the socket and pool memory, which the disk gets as it is.
#pragma once

#include "core/err.h"
#include "initiator/attach/nbd_flags.h"
#include "initiator/disk/disk.h"

struct transmission;

struct transmission_config {
	int fd; // its owner's again after free
	// The client has gone or says that it goes (why->code 0), or it breaks the protocol. Once.
	// No request is taken any more.
	void (*ended)(void *arg, const struct err *why);
	void *arg;
	// A client that does not send a request and its data to the end, or does not take an
	// answer, within so many milliseconds is ended with -ETIMEDOUT. 0: without a limit. One
	// that is between two requests, or waits for the disk, has no limit.
	unsigned patience_ms;
	struct nbd_offer offer; // other requests are refused
};

// Begins; ended follows, not from inside. fd becomes non-blocking.
int transmission_new(struct transmission **ret, struct disk *d,
		     const struct transmission_config *config, struct err *e);
// No callback follows. Requests that the disk has keep their memory until they are done; their
// answers are not sent. NULL is fine.
void transmission_free(struct transmission *t);
