// SPDX-License-Identifier: BSD-2-Clause
// Parameter lists of the token commands, see odx.h. Pure; 64-bit arithmetic throughout.
#include "target/scsi/copy/odx.h"

#include <string.h>

#include "transport/wire/be.h"

enum {
	POPULATE_HEADER = 16,
	WRITE_HEADER = 536,
	RANGE_LEN = 16,
	SENSE_TOO_MANY_RANGES = SENSE(SK_ILLEGAL_REQUEST, 0x26, 0x08),
};

static bool range_overlaps_earlier(const struct odx_request *r, uint64_t lba, uint64_t blocks)
{
	for (uint32_t i = 0; i < r->nranges; i++) {
		const struct rod_range *o = &r->ranges[i];
		if (lba < o->lba ? o->lba - lba < blocks : lba - o->lba < o->blocks)
			return true;
	}
	return false;
}

// Range descriptors in list[at..at + len). Those without blocks are skipped.
static uint32_t parse_ranges(struct odx_request *r, const uint8_t *list, uint32_t at, uint32_t len,
			     uint64_t capacity, uint32_t block_size, int *ret_field)
{
	if (!len || len % RANGE_LEN) {
		*ret_field = (int)at - 2;
		return SENSE_INVALID_FIELD_PARAM;
	}
	if (len / RANGE_LEN > ROD_RANGES_MAX)
		return SENSE_TOO_MANY_RANGES;
	for (uint32_t end = at + len; at < end; at += RANGE_LEN) {
		uint64_t lba = get_be64(list + at), blocks = get_be32(list + at + 8);
		*ret_field = (int)at;
		if (lba > capacity || blocks > capacity - lba)
			return SENSE_LBA_RANGE;
		if (!blocks)
			continue;
		r->blocks += blocks;
		if (range_overlaps_earlier(r, lba, blocks) ||
		    r->blocks > ROD_BYTES_MAX / block_size)
			return SENSE_INVALID_FIELD_PARAM;
		r->ranges[r->nranges++] = (struct rod_range){ lba, blocks };
	}
	*ret_field = -1;
	return 0;
}

// Checks DATA LENGTH and RANGE DESCRIPTOR LENGTH against the received length.
static uint32_t check_lengths(const uint8_t *list, uint32_t len, uint32_t header, uint32_t *ret)
{
	if (len < header)
		return SENSE_PARAM_LIST_LENGTH;
	uint32_t data = get_be16(list) + 2u, ranges = get_be16(list + header - 2);
	if (data > len || header + ranges > data)
		return SENSE_PARAM_LIST_LENGTH;
	*ret = ranges;
	return 0;
}

static uint32_t parse_header(struct odx_request *ret, const uint8_t *list, uint32_t len,
			     uint32_t header, uint32_t *ret_ranges, int *ret_field)
{
	uint32_t sense = check_lengths(list, len, header, ret_ranges);
	memset(ret, 0, sizeof *ret);
	*ret_field = -1;
	if (!sense)
		ret->is_immediate = list[2] & 0x01;
	return sense;
}

uint32_t odx_parse_populate(struct odx_request *ret, const uint8_t *list, uint32_t len,
			    uint64_t capacity, uint32_t block_size, int *ret_field)
{
	uint32_t ranges, sense = parse_header(ret, list, len, POPULATE_HEADER, &ranges, ret_field);
	if (sense)
		return sense;
	ret->has_type = list[2] & 0x02;
	ret->timeout = get_be32(list + 4);
	ret->rod_type = get_be32(list + 8);
	if (ret->timeout > ROD_TIMEOUT_MAX) {
		*ret_field = 4;
		return SENSE_INVALID_FIELD_PARAM;
	}
	if (ret->has_type && ret->rod_type != ROD_TYPE_POINT_IN_TIME &&
	    ret->rod_type != ROD_TYPE_CHANGE_VULNERABLE) {
		*ret_field = 8;
		return SENSE_INVALID_FIELD_PARAM;
	}
	return parse_ranges(ret, list, POPULATE_HEADER, ranges, capacity, block_size, ret_field);
}

uint32_t odx_parse_write(struct odx_request *ret, const uint8_t *list, uint32_t len,
			 uint64_t capacity, uint32_t block_size, int *ret_field)
{
	uint32_t ranges, sense = parse_header(ret, list, len, WRITE_HEADER, &ranges, ret_field);
	if (sense)
		return sense;
	ret->deletes = list[2] & 0x02;
	ret->offset = get_be64(list + 8);
	memcpy(ret->token, list + 16, ROD_TOKEN_LEN);
	return parse_ranges(ret, list, WRITE_HEADER, ranges, capacity, block_size, ret_field);
}
