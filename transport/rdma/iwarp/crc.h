// SPDX-License-Identifier: BSD-2-Clause
// The CRC32C of an FPDU, by isa-l: over length, ULPDU and pad; sent complemented with its low byte
// first, as in iSCSI. RFC 5044 4.4. Any thread, nothing blocks.
#pragma once

#include <isa-l/crc.h>
#include <stdbool.h>
#include <stdint.h>

#define IW_CRC_START UINT32_C(0xffffffff)

// len: of a piece of an FPDU, well below isa-l's limit of an int.
static inline uint32_t iw_crc(uint32_t crc, const void *p, uint32_t len)
{
	// isa-l reads only, though its prototype lacks the const.
	return crc32_iscsi((unsigned char *)(uintptr_t)p, (int)len, crc);
}

static inline void iw_crc_put(uint32_t crc, uint8_t ret_wire[4])
{
	crc = ~crc;
	for (int i = 0; i < 4; i++)
		ret_wire[i] = (uint8_t)(crc >> (8 * i));
}

static inline bool iw_crc_is(uint32_t crc, const uint8_t wire[4])
{
	uint8_t mine[4];

	iw_crc_put(crc, mine);
	return mine[0] == wire[0] && mine[1] == wire[1] && mine[2] == wire[2] && mine[3] == wire[3];
}
