// SPDX-License-Identifier: BSD-2-Clause
// The transmission phase of the NBD protocol: layouts and constants. All integers are big-endian.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "transport/wire/be.h"

#define NBD_REQUEST_MAGIC 0x25609513u
#define NBD_REPLY_MAGIC	  0x67446698u
#define NBD_CHUNK_MAGIC	  0x668e33efu

enum {
	NBD_REQUEST_LEN = 28, // magic, flags 4, type 6, cookie 8, offset 16, length 24
	NBD_REPLY_LEN = 16,   // magic, error 4, cookie 8
	NBD_CHUNK_LEN = 20,   // magic, flags 4, type 6, cookie 8, length of the rest 16
	NBD_DATA_MAX = 32u << 20,
};

enum nbd_type {
	NBD_READ = 0,
	NBD_WRITE = 1,
	NBD_DISCONNECT = 2,
	NBD_FLUSH = 3,
	NBD_TRIM = 4,
	NBD_WRITE_ZEROES = 6,
	NBD_BLOCK_STATUS = 7,
	NBD_TYPE_COUNT,
};

enum { // of a request
	NBD_FUA = 1 << 0,
	NBD_NO_HOLE = 1 << 1,
	NBD_DF = 1 << 2,
	NBD_REQ_ONE = 1 << 3,
	NBD_FAST_ZERO = 1 << 4,
};

enum { // of a reply
	NBD_EPERM = 1,
	NBD_EIO = 5,
	NBD_ENOMEM = 12,
	NBD_EINVAL = 22,
	NBD_ENOSPC = 28,
	NBD_ENOTSUP = 95,
	NBD_ESHUTDOWN = 108,
};

struct nbd_request {
	uint16_t flags, type;
	uint64_t cookie, offset;
	uint32_t len;
};

// False: not a request.
static inline bool nbd_request_parse(const uint8_t p[NBD_REQUEST_LEN], struct nbd_request *ret)
{
	*ret = (struct nbd_request){
		.flags = get_be16(p + 4),
		.type = get_be16(p + 6),
		.cookie = get_be64(p + 8),
		.offset = get_be64(p + 16),
		.len = get_be32(p + 24),
	};
	return get_be32(p) == NBD_REQUEST_MAGIC;
}

static inline void nbd_reply_build(uint8_t p[NBD_REPLY_LEN], uint32_t error, uint64_t cookie)
{
	put_be32(p, NBD_REPLY_MAGIC);
	put_be32(p + 4, error);
	put_be64(p + 8, cookie);
}
