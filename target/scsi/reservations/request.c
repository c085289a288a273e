// SPDX-License-Identifier: BSD-2-Clause
// The parameter list of PERSISTENT RESERVE OUT (SPC-4 6.16.3 basic, 6.16.4 REGISTER AND
// MOVE). Pure; every length is checked against the bytes that were received.
#include "target/scsi/reservations/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/wire/be.h"

#define BASIC_LIST 24

enum { FLAG_APTPL = 0x01, FLAG_ALL_TG_PT = 0x04, FLAG_SPEC_I_PT = 0x08, MOVE_UNREG = 0x02 };

static uint32_t bad_field(int *ret_field, int byte)
{
	*ret_field = byte;
	return SENSE_INVALID_FIELD_PARAM;
}

// TransportIDs that fill p[0..len) exactly, at offset of the list.
static uint32_t parse_tids(struct pr_request *r, const uint8_t *p, uint32_t len, uint32_t offset,
			   int *ret_field)
{
	// The shortest is 24 bytes long.
	uint32_t max = len / 24 < PR_TIDS_MAX ? len / 24 : PR_TIDS_MAX;
	r->tids = calloc(max ? max : 1, sizeof r->tids[0]);
	if (!r->tids)
		return SENSE_INTERNAL_FAILURE;
	for (uint32_t at = 0; at < len;) {
		size_t used;
		if (r->ntids == max || pr_tid_parse(&r->tids[r->ntids], p + at, len - at, &used))
			return bad_field(ret_field, (int)(offset + at));
		r->ntids++;
		at += (uint32_t)used;
	}
	return 0;
}

static uint32_t parse_move(struct pr_request *r, const uint8_t *list, uint32_t len, int *ret_field)
{
	if (len < BASIC_LIST || get_be32(list + 20) != len - BASIC_LIST)
		return SENSE_PARAM_LIST_LENGTH;
	r->unreg = list[17] & MOVE_UNREG;
	r->aptpl = list[17] & FLAG_APTPL;
	r->move_port = get_be16(list + 18);
	uint32_t sense = parse_tids(r, list + BASIC_LIST, len - BASIC_LIST, BASIC_LIST, ret_field);
	if (sense)
		return sense;
	return r->ntids == 1 ? 0 : bad_field(ret_field, BASIC_LIST);
}

static uint32_t parse_basic(struct pr_request *r, const uint8_t *list, uint32_t len, int *ret_field)
{
	bool registers = r->action == PR_OUT_REGISTER || r->action == PR_OUT_REGISTER_IGNORE;
	r->spec_i_pt = registers && list[20] & FLAG_SPEC_I_PT;
	r->all_tg_pt = registers && list[20] & FLAG_ALL_TG_PT;
	r->aptpl = registers && list[20] & FLAG_APTPL;
	if (!r->spec_i_pt)
		return len == BASIC_LIST ? 0 : SENSE_PARAM_LIST_LENGTH;
	if (r->action == PR_OUT_REGISTER_IGNORE)
		return bad_field(ret_field, 20);
	if (len < BASIC_LIST + 4 || get_be32(list + BASIC_LIST) != len - BASIC_LIST - 4)
		return SENSE_PARAM_LIST_LENGTH;
	return parse_tids(r, list + BASIC_LIST + 4, len - BASIC_LIST - 4, BASIC_LIST + 4,
			  ret_field);
}

uint32_t pr_request_parse(struct pr_request *ret, const uint8_t *cdb, const uint8_t *list,
			  uint32_t len, int *ret_field)
{
	*ret = (struct pr_request){ .action = cdb[1] & 0x1f,
				    .scope = cdb[2] >> 4,
				    .type = cdb[2] & 0x0f };
	*ret_field = -1;
	if (ret->action >= PR_OUT_MAX)
		return SENSE_INVALID_FIELD_CDB;
	if (len < BASIC_LIST)
		return SENSE_PARAM_LIST_LENGTH;
	ret->key = get_be64(list);
	ret->sa_key = get_be64(list + 8);
	if (ret->action == PR_OUT_REGISTER_MOVE)
		return parse_move(ret, list, len, ret_field);
	return parse_basic(ret, list, len, ret_field);
}

void pr_request_done(struct pr_request *r)
{
	free(r->tids);
	r->tids = NULL;
	r->ntids = 0;
}
