// SPDX-License-Identifier: BSD-2-Clause
// See offload.h. One command is one segment of a size at which progress and Ctrl-C stay alive.
#include "initiator/tool/offload.h"

#include <errno.h>
#include <string.h>

#include "initiator/identity.h"
#include "transport/wire/be.h"

#define STEP_MOST	    (16u << 20)
#define BLOCKS_MOST	    65535u
#define KEY_ILLEGAL_REQUEST 5
#define KEY_COPY_ABORTED    10

enum { HEADER = 16, CSCD = 32, SEGMENT = 28, NO_LIST_ID = 3, NAA = 3, BINARY = 1 };
enum { IDENTIFICATION = 0xe4, BLOCK_TO_BLOCK = 0x02 };

void offload_id_read(const struct tool_disk *d, struct offload_id *ret)
{
	uint8_t b[IDENTITY_DATA_MAX];
	struct identity i = { 0 };
	struct err ignored;
	uint32_t n;
	struct scsi_args args = { .len = sizeof b, .flags = 1, .page = 0x83 };
	_Static_assert(sizeof i.designators == OFFLOAD_ID_MAX, "an identity fits");
	ret->len = 0;
	if (tool_data_in(d->sync, d->lun, SCSI_INQUIRY, &args, b, sizeof b, &n, &ignored) ||
	    n < 4 || b[1] != 0x83)
		return;
	identity_designators(&i, b, n);
	memcpy(ret->data, i.designators, i.designators_len);
	ret->len = i.designators_len;
}

bool offload_id_equal(const struct offload_id *a, const struct offload_id *b)
{
	return a->len && a->len == b->len && !memcmp(a->data, b->data, a->len);
}

// The designators are whole (identity.h).
static bool find_naa(const struct offload_id *id, uint8_t ret[OFFLOAD_NAA_LEN])
{
	for (uint32_t at = 0; at < id->len; at += 4u + id->data[at + 3]) {
		const uint8_t *d = id->data + at;
		if ((d[0] & 0xf) != BINARY || (d[1] & 0xf) != NAA || d[3] != OFFLOAD_NAA_LEN)
			continue;
		memcpy(ret, d + 4, OFFLOAD_NAA_LEN);
		return true;
	}
	return false;
}

bool offload_init(struct offload *o, struct tool_disk *from, const struct offload_id *from_id,
		  struct tool_disk *to, const struct offload_id *to_id)
{
	o->from = from;
	o->to = to;
	return from->block_size == to->block_size && find_naa(from_id, o->from_naa) &&
	       find_naa(to_id, o->to_naa);
}

static void put_cscd(uint8_t *d, const uint8_t naa[OFFLOAD_NAA_LEN], uint32_t block_size)
{
	d[0] = IDENTIFICATION;
	d[4] = BINARY;
	d[5] = NAA;
	d[7] = OFFLOAD_NAA_LEN;
	memcpy(d + 8, naa, OFFLOAD_NAA_LEN);
	put_be32(d + 28, block_size); // three bytes, behind one of flags
}

static void put_list(uint8_t *list, const struct offload *o, uint64_t from, uint64_t to,
		     uint32_t blocks)
{
	uint8_t *s = list + HEADER + 2 * CSCD;
	memset(list, 0, OFFLOAD_LIST_LEN);
	list[1] = NO_LIST_ID << 3;
	put_be16(list + 2, 2 * CSCD);
	put_be32(list + 8, SEGMENT);
	put_cscd(list + HEADER, o->from_naa, o->from->block_size);
	put_cscd(list + HEADER + CSCD, o->to_naa, o->to->block_size);
	s[0] = BLOCK_TO_BLOCK;
	put_be16(s + 2, SEGMENT - 4);
	put_be16(s + 6, 1); // the destination's index; 0 is the source's
	put_be16(s + 10, (uint16_t)blocks);
	put_be64(s + 12, from);
	put_be64(s + 20, to);
}

// A refusal: nothing was copied, another way may work. COPY ABORTED comes with the units' own
// errors too, which the other way meets again.
static bool is_refusal(const struct scsi_cmd *c)
{
	struct scsi_sense s;
	return !c->res && scsi_sense_parse(c->sense, c->sense_len, &s) &&
	       (s.key == KEY_ILLEGAL_REQUEST || s.key == KEY_COPY_ABORTED);
}

int64_t offload_step(struct offload *o, uint64_t from, uint64_t to, uint64_t bytes, struct err *e)
{
	struct scsi_sync_cmd c;
	uint8_t list[OFFLOAD_LIST_LEN];
	struct scsi_args args = { .len = sizeof list };
	uint32_t size = o->to->block_size;
	uint64_t blocks = (bytes < STEP_MOST ? bytes : STEP_MOST) / size;
	blocks = blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST;
	put_list(list, o, from / size, to / size, (uint32_t)blocks);
	scsi_cmd_set(&c.cmd, o->to->lun, SCSI_EXTENDED_COPY, &args, list, sizeof list);
	int r = tool_run(o->to->sync, &c, SCSI_EXTENDED_COPY, e);
	if (r)
		return is_refusal(&c.cmd) ? -EOPNOTSUPP : r;
	return (int64_t)(blocks * size);
}
