// SPDX-License-Identifier: BSD-2-Clause
// See overlay_header.h. All numbers are little-endian.
#include "backstores/overlay_header.h"

#include <errno.h>
#include <isa-l/crc.h>
#include <string.h>

#define VERSION	  1u
#define ALIGNMENT (1ull << 20) // of the data: extents of the file system keep the disk's alignment

static const uint8_t magic[8] = "FBOVRLAY";

// Offsets of the fields.
enum {
	AT_MAGIC = 0,
	AT_VERSION = 8,
	AT_BLOCK = 12,
	AT_BASE_SIZE = 16,
	AT_MTIME_S = 24,
	AT_MTIME_NS = 32,
	AT_SAMPLE = 36,
	AT_DATA = 40,
	AT_BOOT_ID = 48,
	AT_RESERVED = AT_BOOT_ID + OVERLAY_BOOT_ID,
	AT_CRC = OVERLAY_HEADER - 4,
};

static void put(uint8_t *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << 8 * i;
	return value;
}

uint32_t overlay_crc(uint32_t crc, const void *data, uint32_t length)
{
	// isa-l reads only, though its prototype lacks the const.
	return ~crc32_iscsi((unsigned char *)data, (int)length, ~crc);
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

int overlay_layout(uint64_t base_size, struct overlay_layout *ret)
{
	if (base_size > OVERLAY_BASE_MAX)
		return -EFBIG;
	ret->blocks = base_size / OVERLAY_BLOCK;
	ret->map_bytes = round_up((ret->blocks + 7) / 8, OVERLAY_BLOCK);
	ret->kept = OVERLAY_BLOCK;
	ret->noted = ret->kept + ret->map_bytes;
	ret->data = round_up(ret->noted + ret->map_bytes, ALIGNMENT);
	return 0;
}

void overlay_header_write(const struct overlay_header *h, uint8_t ret[OVERLAY_HEADER])
{
	struct overlay_layout l = { 0 };
	overlay_layout(h->base.size, &l);
	memset(ret, 0, OVERLAY_HEADER);
	memcpy(ret + AT_MAGIC, magic, sizeof magic);
	put(ret + AT_VERSION, VERSION, 4);
	put(ret + AT_BLOCK, OVERLAY_BLOCK, 4);
	put(ret + AT_BASE_SIZE, h->base.size, 8);
	put(ret + AT_MTIME_S, (uint64_t)h->base.mtime_s, 8);
	put(ret + AT_MTIME_NS, h->base.mtime_ns, 4);
	put(ret + AT_SAMPLE, h->base.sample, 4);
	put(ret + AT_DATA, l.data, 8);
	memcpy(ret + AT_BOOT_ID, h->boot_id, OVERLAY_BOOT_ID);
	put(ret + AT_CRC, overlay_crc(0, ret, AT_CRC), 4);
}

bool overlay_header_is(const uint8_t *data, uint64_t size)
{
	return size >= sizeof magic && !memcmp(data, magic, sizeof magic);
}

static bool is_clear(const uint8_t *data, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		if (data[i])
			return false;
	return true;
}

int overlay_header_read(const uint8_t *data, uint64_t size, struct overlay_header *ret,
			struct err *e)
{
	struct overlay_layout l;
	if (!overlay_header_is(data, size))
		return err_set(e, -EINVAL, "not an overlay");
	if (size < OVERLAY_HEADER)
		return err_set(e, -EINVAL, "its header is cut off");
	if (get(data + AT_CRC, 4) != overlay_crc(0, data, AT_CRC))
		return err_set(e, -EINVAL, "its header is damaged");
	if (get(data + AT_VERSION, 4) != VERSION)
		return err_set(e, -EINVAL, "version %u is unknown",
			       (unsigned)get(data + AT_VERSION, 4));
	uint64_t base_size = get(data + AT_BASE_SIZE, 8), ns = get(data + AT_MTIME_NS, 4);
	if (get(data + AT_BLOCK, 4) != OVERLAY_BLOCK || overlay_layout(base_size, &l) < 0 ||
	    get(data + AT_DATA, 8) != l.data || ns >= 1000000000u ||
	    !is_clear(data, AT_RESERVED, AT_CRC))
		return err_set(e, -EINVAL, "its header has invalid fields");
	ret->base = (struct overlay_base){ .size = base_size,
					   .mtime_s = (int64_t)get(data + AT_MTIME_S, 8),
					   .mtime_ns = (uint32_t)ns,
					   .sample = (uint32_t)get(data + AT_SAMPLE, 4) };
	memcpy(ret->boot_id, data + AT_BOOT_ID, OVERLAY_BOOT_ID);
	return 0;
}
