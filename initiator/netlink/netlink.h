// SPDX-License-Identifier: BSD-2-Clause
// Requests to the kernel by netlink, over libmnl: a message with attributes, its verdict, or a
// list. A socket and a message belong to one thread at a time. Errors are negative errnos, most of
// them the kernel's.
#pragma once

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct netlink {
	struct mnl_socket *socket;
	uint32_t sequence; // of the last request
};

enum { NETLINK_BYTES_MAX = 1024 };

// A request. One that has become too long stays so, and netlink_do() refuses it.
struct netlink_message {
	union {
		struct nlmsghdr header;
		uint8_t bytes[NETLINK_BYTES_MAX];
	};
	bool is_too_long;
};

// bus: NETLINK_ROUTE and others. groups: a bit for each group (RTMGRP_LINK) whose notices make
// the descriptor, mnl_socket_get_fd(), readable; 0: none. An answer may take patience seconds. The
// caller ends it with netlink_close(); after an error there is nothing to close. Does not block.
int netlink_open(struct netlink *n, int bus, unsigned groups, unsigned patience);
void netlink_close(struct netlink *n);

// Begins a request of that type with its fixed part, len bytes. flags: of NLM_F_*, without
// NLM_F_REQUEST and NLM_F_ACK.
void netlink_begin(struct netlink_message *m, uint16_t type, uint16_t flags, const void *fixed,
		   size_t len);
// They add an attribute; data and text are copied, text with its zero byte.
void netlink_put(struct netlink_message *m, uint16_t type, const void *data, size_t len);
void netlink_put_u32(struct netlink_message *m, uint16_t type, uint32_t value);
void netlink_put_u64(struct netlink_message *m, uint16_t type, uint64_t value);
void netlink_put_text(struct netlink_message *m, uint16_t type, const char *text);
// What is added before netlink_nest_end(), which gets the result, is inside. NULL: too long.
struct nlattr *netlink_nest(struct netlink_message *m, uint16_t type);
void netlink_nest_end(struct netlink_message *m, struct nlattr *nest);

// Sends m and blocks until the kernel has given its verdict: 0 or its error. found, if not NULL,
// gets each message before that, which it may read until it returns MNL_CB_OK. -EMSGSIZE: m is too
// long, nothing was sent. -EAGAIN: no verdict in time. -EBADMSG: the answer is malformed. Messages
// of earlier requests and notices are skipped.
int netlink_do(struct netlink *n, struct netlink_message *m, mnl_cb_t found, void *arg);
// Throws away the notices that have come. Does not block.
void netlink_drain(struct netlink *n);

// The first attribute of that type behind a message's fixed part of so many bytes, or inside nest,
// which may be NULL. NULL: it is absent. It points into the message.
const struct nlattr *netlink_attribute(const struct nlmsghdr *m, size_t fixed, uint16_t type);
const struct nlattr *netlink_nested(const struct nlattr *nest, uint16_t type);
// Copies its value if it has exactly len bytes. False: it has not, or a is NULL; ret is untouched.
bool netlink_value(const struct nlattr *a, void *ret, size_t len);
