// SPDX-License-Identifier: BSD-2-Clause
// A CMD IU to be extended and spoilt, in memory of exactly its length.
#pragma once

#include <setjmp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "transport/srp/iu.h"

enum { OFFSET = 68 };

// clang-format off
static const uint8_t head[48] = {
	0x02, 0x06, 0, 0, 0, 0x00, 0, 0,	// CMD, solicited, no data
	0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, // tag
	0, 0, 0, 0,
	0x00, 0x07, 0, 0, 0, 0, 0, 0,		// LUN 7
	0, 0xf9, 0, 0x00,			// head of queue beside reserved bits
	0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, // CDB
	0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf,
};

#define DESC(len) 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x21, 0x22, 0x23, 0x24, \
	0, 0, (len) >> 8 & 0xff, (len) & 0xff

static const uint8_t one[16] = { DESC(0x1234) };

static const uint8_t table[20 + 2 * 16] = {
	DESC(32), 0, 0, 0x30, 0x00,		// two descriptors, 12288 bytes
	DESC(0x1000), DESC(0x2000),
};
// clang-format on

static uint8_t *iu;
static uint32_t iu_len;

static inline int begin(void **state)
{
	iu = malloc(sizeof head);
	iu_len = sizeof head;
	memcpy(iu, head, sizeof head);
	return 0;
}

static inline int end(void **state)
{
	free(iu);
	return 0;
}

static inline void add(const void *bytes, uint32_t len)
{
	iu = realloc(iu, iu_len + len);
	assert_non_null(iu);
	memcpy(iu + iu_len, bytes, len);
	iu_len += len;
}

static inline void set32(uint32_t at, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		iu[at + i] = (uint8_t)(value >> (24 - 8 * i));
}

// Cuts the IU to len bytes: what was behind them is no longer in its memory.
static inline void cut(uint32_t len)
{
	iu = realloc(iu, len ? len : 1);
	assert_non_null(iu);
	iu_len = len;
}
