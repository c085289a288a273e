// SPDX-License-Identifier: BSD-2-Clause
// CRC32C by isa-l, which uses the processor's instructions. RFC 7143 §13.1: the value
// is complemented and sent with its low byte first.
#include "transport/iscsi/digest.h"

#include <isa-l/crc.h>
#include <string.h>

// isa-l takes its length as an int.
#define CHUNK_MAX ((size_t)1 << 30)

uint32_t digest_update(uint32_t crc, const void *p, size_t n)
{
	// isa-l reads only, though its prototype lacks the const.
	unsigned char *at = (unsigned char *)(uintptr_t)p;
	while (n) {
		size_t step = n < CHUNK_MAX ? n : CHUNK_MAX;
		crc = crc32_iscsi(at, (int)step, crc);
		at += step;
		n -= step;
	}
	return crc;
}

uint32_t digest_update_iov(uint32_t crc, const struct iovec *iov, unsigned iov_count, size_t n)
{
	for (unsigned i = 0; i < iov_count && n; i++) {
		size_t step = iov[i].iov_len < n ? iov[i].iov_len : n;
		crc = digest_update(crc, iov[i].iov_base, step);
		n -= step;
	}
	return crc;
}

uint32_t digest_update_pad(uint32_t crc, size_t data_len)
{
	static const uint8_t zero[4];
	return digest_update(crc, zero, -data_len & 3);
}

void digest_put(uint32_t crc, uint8_t ret_wire[4])
{
	crc = ~crc;
	for (int i = 0; i < 4; i++)
		ret_wire[i] = (uint8_t)(crc >> (8 * i));
}

bool digest_is(uint32_t crc, const uint8_t wire[4])
{
	uint8_t mine[4];
	digest_put(crc, mine);
	return memcmp(mine, wire, sizeof mine) == 0;
}

void digest_header(const void *header, size_t n, uint8_t ret_wire[4])
{
	digest_put(digest_update(ISCSI_CRC_START, header, n), ret_wire);
}
