// SPDX-License-Identifier: BSD-2-Clause
// Requests to the kernel's routing netlink: messages with attributes, their verdict, and lists. The
// program's thread; blocks until the kernel has answered.
#pragma once

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

enum { RTNL_BYTES_MAX = 512 };

struct rtnl {
	int fd;
	uint32_t sequence;
};

// A request; one that has become too long is refused by rtnl_do().
struct rtnl_message {
	_Alignas(8) uint8_t bytes[RTNL_BYTES_MAX];
	size_t len;
};

// groups: of RTMGRP_*, whose notices make the descriptor readable; 0: none. Close it with
// rtnl_close(). Negative errno.
int rtnl_open(struct rtnl *r, uint32_t groups);
void rtnl_close(struct rtnl *r);

// Begins a request with its fixed part.
void rtnl_begin(struct rtnl_message *m, uint16_t type, uint16_t flags, const void *fixed,
		size_t len);
void rtnl_put(struct rtnl_message *m, uint16_t type, const void *data, size_t len);
void rtnl_put_u32(struct rtnl_message *m, uint16_t type, uint32_t value);
size_t rtnl_nest(struct rtnl_message *m, uint16_t type); // what rtnl_nest_end() needs
void rtnl_nest_end(struct rtnl_message *m, size_t at);

// Sends it and reads the answer: found, if not NULL, gets each message of a list, its fixed part
// with the attributes behind it. 0, or the kernel's negative errno.
typedef void rtnl_found(void *arg, uint16_t type, const uint8_t *body, size_t len);
int rtnl_do(struct rtnl *r, struct rtnl_message *m, rtnl_found *found, void *arg);
// Throws away the notices that have come.
void rtnl_drain(struct rtnl *r);

// The attribute of that type behind at; NULL: the message lacks it. Its length in *ret_len.
const uint8_t *rtnl_attribute(const uint8_t *at, size_t len, uint16_t type, size_t *ret_len);
