// SPDX-License-Identifier: BSD-2-Clause
// Generic netlink: requests to a family of the kernel and their answers. The program's thread; the
// kernel does the work before the request returns.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

struct genl {
	int fd;
	uint16_t family;
	uint32_t sequence;
};

enum { GENL_BYTES_MAX = 1024 };

struct genl_message {
	_Alignas(8) uint8_t bytes[GENL_BYTES_MAX];
	uint32_t len; // more than GENL_BYTES_MAX: it did not fit
};

// Opens a socket for the family of this name. -ENOENT: the kernel has no such family.
int genl_open(struct genl *g, const char *family);
void genl_close(struct genl *g);

void genl_begin(struct genl_message *m, const struct genl *g, uint8_t command);
void genl_put(struct genl_message *m, uint16_t type, const void *data, uint16_t len);
void genl_put_u32(struct genl_message *m, uint16_t type, uint32_t value);
void genl_put_u64(struct genl_message *m, uint16_t type, uint64_t value);
void genl_put_text(struct genl_message *m, uint16_t type, const char *text);
// A nested attribute; the result is for genl_nest_end().
uint32_t genl_nest(struct genl_message *m, uint16_t type);
void genl_nest_end(struct genl_message *m, uint32_t at);

// An attribute at the top of what the kernel answers.
struct genl_wanted {
	uint16_t type, len; // bytes; one of another length is not taken
	void *value;	    // untouched if the answer lacks it
};

// Sends m and waits for the kernel's verdict: 0 or its negative errno. wanted NULL: none.
int genl_do(struct genl *g, struct genl_message *m, const struct genl_wanted *wanted);
