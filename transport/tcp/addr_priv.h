// SPDX-License-Identifier: BSD-2-Clause
// Private to addr.c and resolve.c: splits a host and a port.
#pragma once

#include "transport/tcp/addr.h"

#define HOST_MAX 254 // of a DNS name, with its NUL

struct host_port {
	char host[HOST_MAX];
	uint16_t port;
	bool is_bracketed; // then the host is an IPv6 address
};

// -EINVAL with its cause.
int tcp_addr_split(struct host_port *ret, const char *text, uint16_t default_port, struct err *e);

// -EINVAL if the host is not a numeric address, -ENODEV if its interface does not exist.
int tcp_addr_from_host(struct tcp_addr *ret, const struct host_port *hp);
