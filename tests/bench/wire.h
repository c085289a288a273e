// SPDX-License-Identifier: BSD-2-Clause
// The few iSCSI fields of a load generator (RFC 7143 §11), intentionally independent: a peer that
// shared transport/wire with the daemon would share a wrong offset.
#pragma once

#include <endian.h>
#include <stdint.h>
#include <string.h>

enum {
	BHS_LEN = 48,
	DIGEST_LEN = 4,

	OP_NOP_OUT = 0x00,
	OP_COMMAND = 0x01,
	OP_LOGIN = 0x03,
	OP_DATA_OUT = 0x05,
	OP_LOGOUT = 0x06,
	OP_NOP_IN = 0x20,
	OP_RESPONSE = 0x21,
	OP_LOGIN_RESPONSE = 0x23,
	OP_DATA_IN = 0x25,
	OP_R2T = 0x31,
	OP_IMMEDIATE = 0x40,
	OP_MASK = 0x3f,

	FLAG_FINAL = 0x80,
	FLAG_READ = 0x40,
	FLAG_WRITE = 0x20,
	FLAG_SIMPLE = 0x01,
	FLAG_STATUS = 0x01,

	// Byte offsets in the basic header segment.
	AT_FLAGS = 1,
	AT_RESPONSE = 2,
	AT_STATUS = 3,
	AT_AHS_LEN = 4,
	AT_DATA_LEN = 5,
	AT_LUN = 8,
	AT_ITT = 16,
	AT_EDTL = 20,
	AT_TTT = 20,
	AT_CMDSN = 24,
	AT_STATSN = 24,
	AT_EXPSTATSN = 28,
	AT_MAXCMDSN = 32,
	AT_CDB = 32,
	AT_DATASN = 36,
	AT_LOGIN_STATUS = 36,
	AT_OFFSET = 40,
	AT_R2T_LEN = 44,
};

#define NO_TAG 0xffffffffu

static inline void put16(uint8_t *p, uint16_t v)
{
	v = htobe16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put24(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 16);
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)v;
}

static inline void put32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put64(uint8_t *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof(v));
}

static inline uint16_t get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

static inline uint32_t get24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static inline uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static inline uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

// Single-level LUN, SAM-5 §4.7: peripheral addressing below 256, flat above.
static inline void put_lun(uint8_t *p, unsigned lun)
{
	p[0] = lun < 256 ? 0 : (uint8_t)(0x40 | lun >> 8);
	p[1] = (uint8_t)lun;
}
