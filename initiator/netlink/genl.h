// SPDX-License-Identifier: BSD-2-Clause
// Generic netlink: requests to a family of the kernel, which does the work before it answers. A
// socket belongs to one thread at a time. Errors are negative errnos, as those of netlink.h.
#pragma once

#include "initiator/netlink/netlink.h"

struct genl {
	struct netlink netlink;
	uint16_t family;
};

// Finds the family of this name; blocks until the kernel has answered. An answer may take patience
// seconds. -ENOENT: the kernel has no such family. The caller ends it with genl_close(); after an
// error there is nothing to close.
int genl_open(struct genl *g, const char *family, unsigned patience);
void genl_close(struct genl *g);

// Begins a request; attributes are added by netlink_put() and its like.
void genl_begin(struct netlink_message *m, const struct genl *g, uint8_t command);

// An attribute at the top of what the kernel answers.
struct genl_wanted {
	uint16_t type, len; // bytes; one of another length is not taken
	void *value;	    // untouched if the answer lacks it
};

// Sends m and blocks until the kernel has given its verdict, as netlink_do(). wanted NULL: none.
int genl_do(struct genl *g, struct netlink_message *m, const struct genl_wanted *wanted);
