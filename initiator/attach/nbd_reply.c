// SPDX-License-Identifier: BSD-2-Clause
// Headers of NBD answers, see nbd_reply.h. Pure functions.
#include "initiator/attach/nbd_reply.h"

#include <errno.h>
#include <string.h>

enum { CHUNK_DATA = 1, CHUNK_BLOCK_STATUS = 5, CHUNK_ERROR = 0x8001, CHUNK_IS_LAST = 1 };
enum { STATE_HOLE = 1, STATE_ZERO = 2 };
#define DESCRIPTOR 8
#define ERROR_LEN  6 // error, length of the text

// A text is for people, and has at most NBD_ANSWER_MAX - NBD_CHUNK_LEN - ERROR_LEN bytes.
static const struct row {
	int res;
	uint32_t error;
	const char *text;
} rows[] = {
	// clang-format off
	{0, 0, ""},
	{-EROFS, NBD_EPERM, "the disk is read-only"},
	{-ENOMEM, NBD_ENOMEM, "out of memory"},
	{-EINVAL, NBD_EINVAL, "not a range of whole blocks, or too long for one request"},
	{-ERANGE, NBD_EINVAL, "beyond the end of the disk"},
	{-EFBIG, NBD_ENOSPC, "beyond the end of the disk"},
	{-EBADRQC, NBD_EINVAL, "the command, or one of its flags, was not offered"},
	{-ENOSPC, NBD_ENOSPC, "the target has no space left for the disk"},
	{-EOPNOTSUPP, NBD_ENOTSUP, "the disk cannot do this, or not fast"},
	{-ESHUTDOWN, NBD_ESHUTDOWN, "the disk is being detached"},
	{-EBADE, NBD_EIO, "the disk is reserved by another initiator"},
	{-ENOTCONN, NBD_EIO, "no path to the disk is up"},
	{-ESTALE, NBD_EIO, "the disk was replaced, or has lost data"},
	{-ENODATA, NBD_EIO, "the disk reports a medium error"},
	// clang-format on
};

static const struct row *row_of(int res)
{
	static const struct row other = { 0, NBD_EIO, "the disk failed the command" };

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].res == res)
			return &rows[i];
	return &other;
}

static unsigned chunk(uint8_t *p, const struct nbd_request *r, uint16_t type, uint32_t head,
		      uint32_t data)
{
	put_be32(p, NBD_CHUNK_MAGIC);
	put_be16(p + 4, CHUNK_IS_LAST);
	put_be16(p + 6, type);
	put_be64(p + 8, r->cookie);
	put_be32(p + 16, head + data);
	return NBD_CHUNK_LEN + head;
}

static unsigned error_chunk(uint8_t *p, const struct nbd_request *r, const struct row *row)
{
	uint16_t len = (uint16_t)strlen(row->text);

	put_be32(p + NBD_CHUNK_LEN, row->error);
	put_be16(p + NBD_CHUNK_LEN + 4, len);
	memcpy(p + NBD_CHUNK_LEN + ERROR_LEN, row->text, len);
	return chunk(p, r, CHUNK_ERROR, ERROR_LEN + len, 0);
}

unsigned nbd_reply(uint8_t p[NBD_ANSWER_MAX], const struct nbd_request *r, int res, uint32_t data,
		   bool is_structured)
{
	const struct row *row = row_of(res);

	if (is_structured && row->error)
		return error_chunk(p, r, row);
	if (is_structured && r->type == NBD_READ) {
		put_be64(p + NBD_CHUNK_LEN, r->offset);
		return chunk(p, r, CHUNK_DATA, 8, data);
	}
	if (is_structured && r->type == NBD_BLOCK_STATUS) {
		put_be32(p + NBD_CHUNK_LEN, NBD_ALLOCATION);
		return chunk(p, r, CHUNK_BLOCK_STATUS, 4, data);
	}
	nbd_reply_build(p, row->error, r->cookie);
	return NBD_REPLY_LEN;
}

uint32_t nbd_descriptors(void *extents, unsigned count)
{
	uint8_t *to = extents;

	for (unsigned i = 0; i < count; i++, to += DESCRIPTOR) {
		struct disk_extent e = ((struct disk_extent *)extents)[i];
		put_be32(to, (uint32_t)e.len);
		put_be32(to + 4, (e.is_hole ? STATE_HOLE : 0) | (e.is_zero ? STATE_ZERO : 0));
	}
	return count * DESCRIPTOR;
}
