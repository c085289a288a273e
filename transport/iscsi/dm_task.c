// SPDX-License-Identifier: BSD-2-Clause
// Common code of the target's movers, see dm_task.h. RFC 7143 4.2.2, 11.7.
#include "transport/iscsi/dm_task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/iscsi/peer_memory.h"
#include "transport/wire/be.h"

void dm_task_init(struct dm_task *t, const uint8_t *bhs)
{
	const struct iscsi_scsi_cmd *h = (const void *)bhs;
	memset(t, 0, offsetof(struct dm_task, r2t));
	t->progress_ns = t->owed_ns = 0;
	t->result = NULL;
	t->tx_pending = 0;
	memcpy(&t->itt, h->itt, sizeof t->itt);
	memcpy(t->lun, h->lun, sizeof t->lun);
	t->is_final = (h->flags & ISCSI_F) != 0;
	t->expected_out = h->flags & ISCSI_CMD_W ? get_be32(h->edtl) : 0;
	t->owes_data = !t->is_final || get_be24(h->data_len);
}

// --- tasks that expect data, by tag ---

static unsigned bucket(uint32_t itt)
{
	return (itt ^ itt >> 24 ^ itt >> 8) % DM_BUCKETS;
}

void dm_owed_add(struct dm_owed *o, struct dm_task *t)
{
	struct dm_task **b = &o->bucket[bucket(t->itt)];
	t->hash_next = *b;
	*b = t;
	t->is_hashed = true;
}

void dm_owed_remove(struct dm_owed *o, struct dm_task *t)
{
	if (!t->is_hashed)
		return;
	struct dm_task **b = &o->bucket[bucket(t->itt)];
	while (*b != t)
		b = &(*b)->hash_next;
	*b = t->hash_next;
	t->is_hashed = false;
}

struct dm_task *dm_owed_find(const struct dm_owed *o, uint32_t itt)
{
	struct dm_task *t = o->bucket[bucket(itt)];
	while (t && t->itt != itt)
		t = t->hash_next;
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
	uint32_t offset = get_be32(h->buffer_offset), most = unasked_max(p, t);
	bool fits = get_be32(h->data_sn) == t->data_sn && offset == t->received && offset <= most &&
		    len <= most - offset;
	return fits ? 0 : -EMSGSIZE;
}

bool dm_park(struct dm_owed *o, struct dm_task *t, const struct iscsi_params *p)
{
	uint32_t size = unasked_max(p, t);
	if (t->parked.addr)
		return true;
	if (o->parked_bytes + size > peer_memory_limit(PEER_DATA_OUT))
		return false;
	t->parked.addr = malloc(size);
	if (!t->parked.addr)
		return false;
	t->parked.len = size;
	o->parked_bytes += size;
	peer_memory_take(PEER_DATA_OUT, size);
	return true;
}

void dm_parked_free(struct dm_owed *o, struct dm_task *t)
{
	if (!t->parked.addr)
		return;
	o->parked_bytes -= t->parked.len;
	peer_memory_give(PEER_DATA_OUT, t->parked.len);
	free(t->parked.addr);
	t->parked = (struct sg){ 0 };
}

// --- sending ---

void dm_stamp(const struct dm *dm, uint8_t *bhs)
{
	struct iscsi_scsi_rsp *h = (void *)bhs; // the numbers have the same offsets in all PDUs
	put_be32(h->stat_sn, dm->sns->stat_sn);
	put_be32(h->exp_cmd_sn, dm->sns->exp_cmd_sn);
	put_be32(h->max_cmd_sn, dm->sns->max_cmd_sn);
}
