// SPDX-License-Identifier: BSD-2-Clause
// Big-endian integers in byte arrays: the form of all iSCSI, iSER, SRP, MPA and SCSI fields.
//
// The pointer needs no alignment; nothing here checks a length. Any thread, nothing blocks.
#pragma once

#include <stdint.h>
#include <string.h>

static inline uint16_t get_be16(const void *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof v);
	return __builtin_bswap16(v);
}

static inline uint32_t get_be24(const void *p)
{
	const uint8_t *b = p;
	return (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
}

static inline uint32_t get_be32(const void *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return __builtin_bswap32(v);
}

static inline uint64_t get_be64(const void *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return __builtin_bswap64(v);
}

static inline void put_be16(void *p, uint16_t v)
{
	v = __builtin_bswap16(v);
	memcpy(p, &v, sizeof v);
}

// The upper eight bits of v are dropped.
static inline void put_be24(void *p, uint32_t v)
{
	uint8_t *b = p;
	b[0] = (uint8_t)(v >> 16);
	b[1] = (uint8_t)(v >> 8);
	b[2] = (uint8_t)v;
}

static inline void put_be32(void *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, sizeof v);
}

static inline void put_be64(void *p, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, sizeof v);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "be.h swaps: little-endian hosts only");
