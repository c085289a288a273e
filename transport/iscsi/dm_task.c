// SPDX-License-Identifier: BSD-2-Clause
// Common code of the target's movers, see dm_task.h. RFC 7143 4.2.2, 11.7.
#include "transport/iscsi/dm_task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/peer_memory.h"
#include "transport/wire/be.h"

void dm_task_init(struct dm_task *t, const uint8_t *bhs)
{
	const struct iscsi_scsi_cmd *h = (const void *)bhs;
	*t = (struct dm_task){ .is_final = (h->flags & ISCSI_F) != 0,
			       .expected_out = h->flags & ISCSI_CMD_W ? get_be32(h->edtl) : 0 };
	memcpy(&t->itt, h->itt, sizeof t->itt);
	memcpy(t->lun, h->lun, sizeof t->lun);
}

// --- tasks that expect data, by tag ---

static unsigned bucket(uint32_t itt)
{
	return (itt ^ itt >> 24 ^ itt >> 8) % DM_BUCKETS;
}

void dm_owed_add(struct dm_owed *o, struct dm_task *t)
{
	struct dm_out *out = dm_out(t);
	struct dm_task **b = &o->bucket[bucket(t->itt)];
	out->hash_next = *b;
	*b = t;
	out->is_hashed = true;
}

void dm_owed_remove(struct dm_owed *o, struct dm_task *t)
{
	struct dm_out *out = dm_out(t);
	if (!out->is_hashed)
		return;
	struct dm_task **b = &o->bucket[bucket(t->itt)];
	while (*b != t)
		b = &dm_out(*b)->hash_next;
	*b = out->hash_next;
	out->is_hashed = false;
}

struct dm_task *dm_owed_find(const struct dm_owed *o, uint32_t itt)
{
	struct dm_task *t = o->bucket[bucket(itt)];
	while (t && t->itt != itt)
		t = dm_out(t)->hash_next;
	return t;
}

// --- unsolicited data ---

// How much of a command's data may be unsolicited.
static uint32_t unasked_max(const struct iscsi_params *p, const struct dm_task *t)
{
	return t->expected_out < p->first_burst ? t->expected_out : p->first_burst;
}

bool dm_unasked_agreed(const struct iscsi_params *p, const struct dm_task *t, uint32_t immediate)
{
	if (immediate && (!p->immediate_data || immediate > unasked_max(p, t)))
		return false;
	return t->is_final || !p->initial_r2t || !t->expected_out;
}

int dm_unasked_check(const struct iscsi_params *p, const struct dm_task *t,
		     const struct iscsi_data_out *h, uint32_t len)
{
	const struct dm_out *out = dm_out(t);
	uint32_t offset = get_be32(h->buffer_offset), most = unasked_max(p, t);
	bool fits = get_be32(h->data_sn) == out->data_sn && offset == out->received &&
		    offset <= most && len <= most - offset;
	return fits ? 0 : -EMSGSIZE;
}

bool dm_park(struct dm_owed *o, struct dm_task *t, const struct iscsi_params *p)
{
	struct dm_out *out = dm_out(t);
	uint32_t size = unasked_max(p, t);
	if (out->parked.addr)
		return true;
	if (o->parked_bytes + size > peer_memory_limit(PEER_DATA_OUT))
		return false;
	out->parked.addr = malloc(size);
	if (!out->parked.addr)
		return false;
	out->parked.len = size;
	o->parked_bytes += size;
	peer_memory_take(PEER_DATA_OUT, size);
	return true;
}

void dm_parked_free(struct dm_owed *o, struct dm_task *t)
{
	struct dm_out *out = dm_out(t);
	if (!out->parked.addr)
		return;
	o->parked_bytes -= out->parked.len;
	peer_memory_give(PEER_DATA_OUT, out->parked.len);
	free(out->parked.addr);
	out->parked = (struct sg){ 0 };
}

// --- sending ---

void dm_stamp(const struct dm *dm, uint8_t *bhs)
{
	struct iscsi_scsi_rsp *h = (void *)bhs; // the numbers have the same offsets in all PDUs
	put_be32(h->stat_sn, dm->sns->stat_sn);
	put_be32(h->exp_cmd_sn, dm->sns->exp_cmd_sn);
	put_be32(h->max_cmd_sn, dm->sns->max_cmd_sn);
}
