// SPDX-License-Identifier: BSD-2-Clause
// Clients of an NBD socket: negotiation, then transmission.h. On the disk's worker.
#pragma once

#include "core/err.h"
#include "initiator/disk/disk.h"

enum { SERVER_CLIENTS_MAX = 16 };

struct server;

// listener: non-blocking, the server's from now on. -ENOMEM and others with a text.
int server_new(struct server **ret, struct disk *d, int listener, const char *name, struct err *e);
unsigned server_clients(const struct server *s);
// Ends all clients. NULL is fine.
void server_free(struct server *s);
