// SPDX-License-Identifier: BSD-2-Clause
// The parameter list of EXTENDED COPY(LID1) (SPC-4 6.4.2 to 6.4.6), see extended_copy.h. Pure; all
// lengths are checked in 64 bits against the received bytes.
#include <string.h>

#include "target/scsi/copy/extended_copy.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/sense.h"
#include "transport/wire/be.h"

enum {
	SENSE_TOO_MANY_CSCDS = SENSE(SK_ILLEGAL_REQUEST, 0x26, 0x06),
	SENSE_CSCD_TYPE = SENSE(SK_ILLEGAL_REQUEST, 0x26, 0x07),
	SENSE_TOO_MANY_SEGMENTS = SENSE(SK_ILLEGAL_REQUEST, 0x26, 0x08),
	SENSE_SEGMENT_TYPE = SENSE(SK_ILLEGAL_REQUEST, 0x26, 0x09),
	SENSE_INLINE_DATA = SENSE(SK_ILLEGAL_REQUEST, 0x26, 0x0b),
};

enum { NAA = 3, BINARY = 1, NAA_LEN = 16, LOGICAL_UNIT = 0 };

static uint32_t parse_cscds(struct xcopy_request *r, const uint8_t *list, uint32_t len,
			    int *ret_field)
{
	if (len % XCOPY_CSCD_LEN)
		return SENSE_PARAM_LIST_LENGTH;
	r->ncscds = len / XCOPY_CSCD_LEN;
	r->cscds = list + XCOPY_LIST_HEADER;
	if (r->ncscds > XCOPY_CSCD_MAX)
		return SENSE_TOO_MANY_CSCDS;
	for (uint32_t i = 0; i < r->ncscds; i++)
		if (r->cscds[i * XCOPY_CSCD_LEN] != XCOPY_CSCD_ID) {
			*ret_field = (int)(XCOPY_LIST_HEADER + i * XCOPY_CSCD_LEN);
			return SENSE_CSCD_TYPE;
		}
	return 0;
}

static uint32_t parse_segment(struct xcopy_segment *s, const uint8_t *d, uint32_t left)
{
	if (d[0] != XCOPY_BLOCK_TO_BLOCK)
		return SENSE_SEGMENT_TYPE;
	if (left < XCOPY_SEGMENT_LEN)
		return SENSE_PARAM_LIST_LENGTH;
	if (get_be16(d + 2) != XCOPY_SEGMENT_LEN - 4)
		return SENSE_INVALID_FIELD_PARAM;
	s->counts_target = d[1] & 0x02;
	s->from = get_be16(d + 4);
	s->to = get_be16(d + 6);
	s->blocks = get_be16(d + 10);
	s->from_lba = get_be64(d + 12);
	s->to_lba = get_be64(d + 20);
	return 0;
}

static uint32_t parse_segments(struct xcopy_request *r, const uint8_t *list, uint32_t at,
			       uint32_t len, int *ret_field)
{
	for (uint32_t end = at + len; at < end; at += XCOPY_SEGMENT_LEN) {
		if (r->nsegments == XCOPY_SEGMENT_MAX)
			return SENSE_TOO_MANY_SEGMENTS;
		uint32_t sense = parse_segment(&r->segments[r->nsegments++], list + at, end - at);
		if (sense) {
			*ret_field = (int)at;
			return sense;
		}
	}
	return 0;
}

uint32_t xcopy_parse(struct xcopy_request *ret, const uint8_t *list, uint32_t len, int *ret_field)
{
	*ret_field = -1;
	memset(ret, 0, sizeof *ret);
	if (len < XCOPY_LIST_HEADER)
		return SENSE_PARAM_LIST_LENGTH;
	uint64_t cscds = get_be16(list + 2), segments = get_be32(list + 8);
	ret->list_id = list[0];
	ret->usage = list[1] >> 3 & 3;
	if (cscds + segments > XCOPY_LIST_MAX || XCOPY_LIST_HEADER + cscds + segments > len)
		return SENSE_PARAM_LIST_LENGTH;
	if (get_be32(list + 12))
		return SENSE_INLINE_DATA;
	uint32_t sense = parse_cscds(ret, list, (uint32_t)cscds, ret_field);
	if (sense)
		return sense;
	return parse_segments(ret, list, XCOPY_LIST_HEADER + (uint32_t)cscds, (uint32_t)segments,
			      ret_field);
}

struct nexus_lun *xcopy_find_lun(const struct nexus *n, const uint8_t *d)
{
	// LU ID TYPE and NUL in byte 1 are obsolete; the rest of it is the peripheral type.
	if ((d[1] & 0x1f) || (d[4] & 0x0f) != BINARY || (d[5] >> 4 & 3) != LOGICAL_UNIT ||
	    (d[5] & 0x0f) != NAA || d[7] != NAA_LEN)
		return NULL;
	for (uint32_t i = 0; i < n->lun_limit; i++) {
		struct nexus_lun *nl = n->luns[i];
		if (nl && !memcmp(nl->lu->naa, d + 8, NAA_LEN))
			return nl;
	}
	return NULL;
}
