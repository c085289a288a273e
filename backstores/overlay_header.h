// SPDX-License-Identifier: BSD-2-Clause
// The header of an overlay file, byte for byte in overlay.md. Pure functions; any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"

#define OVERLAY_HEADER	512u  // bytes: one sector, which a disk writes as a whole
#define OVERLAY_BLOCK	4096u // bytes for each bit of the map
#define OVERLAY_SAMPLE	65536u
#define OVERLAY_BOOT_ID 16

// By what the image is recognized, wherever it is.
struct overlay_base {
	uint64_t size;	 // bytes
	int64_t mtime_s; // of the last change, since 1970
	uint32_t mtime_ns;
	uint32_t sample; // CRC32C of its first and last OVERLAY_SAMPLE bytes
};

struct overlay_header {
	struct overlay_base base;
	uint8_t boot_id[OVERLAY_BOOT_ID]; // of the machine that noted writes; zeroes: unknown
};

// Where the parts of the file are, which follows from the size of the base. All in bytes.
struct overlay_layout {
	uint64_t blocks;    // that have a bit: whole ones of the base
	uint64_t map_bytes; // of each map, whole blocks
	uint64_t kept;	    // offset of the map that is durable
	uint64_t noted;	    // offset of the map of writes that need not be durable yet
	uint64_t data;	    // offset of byte 0 of the disk
};

// -EFBIG if the base is larger than OVERLAY_BASE_MAX.
#define OVERLAY_BASE_MAX (1ull << 48)
int overlay_layout(uint64_t base_size, struct overlay_layout *ret);

void overlay_header_write(const struct overlay_header *h, uint8_t ret[OVERLAY_HEADER]);
// Whether data, size bytes from the beginning of a file, begins as an overlay does.
bool overlay_header_is(const uint8_t *data, uint64_t size);
// Reads size bytes from the beginning of a file. -EINVAL with the cause: no overlay, another
// version, damaged.
int overlay_header_read(const uint8_t *data, uint64_t size, struct overlay_header *ret,
			struct err *e);

// CRC32C, continued from crc; 0 to begin.
uint32_t overlay_crc(uint32_t crc, const void *data, uint32_t length);
