// SPDX-License-Identifier: BSD-2-Clause
// The target's iSER mover, unsolicited data: immediate data stays in its receive buffer until the
// command needs it, unsolicited Data-Outs are copied to their destination. RFC 7145 7.3.4. The
// connection's worker.
#include <errno.h>

#include "transport/iser/dm_iser_priv.h"

// --- receive buffers ---

static void rx_drop(struct dm_iser_task *it)
{
	struct dm_iser *d = it->d;
	struct rnic_rx *rx = it->rx;
	if (!rx)
		return;
	it->rx = NULL;
	it->imm = NULL;
	d->rx_held--;
	if (d->rx_task == it)
		d->rx_task = NULL;
	rnic_rx_put(rx);
}

void dm_iser_drop_data(struct dm_iser_task *it)
{
	rx_drop(it);
	dm_parked_free(&it->d->owed, dm_task_of(it));
}

void dm_iser_forget(struct dm_iser_task *it)
{
	dm_iser_drop_data(it);
	dm_owed_remove(&it->d->owed, dm_task_of(it));
	it->out.wants_data = false;
	it->out.owes_data = false;
}

// --- unsolicited data ---

// Copies n bytes at offset of the command's data to the device server's destination; drops bytes
// outside it.
static void place(struct dm_iser_task *it, uint32_t offset, const uint8_t *data, uint32_t n)
{
	n = offset >= it->out.want ? 0 : n < it->out.want - offset ? n : it->out.want - offset;
	for (uint32_t i = 0; i < it->out.nsg && n; i++) {
		if (offset >= it->out.sg[i].len) {
			offset -= it->out.sg[i].len;
			continue;
		}
		uint32_t k = it->out.sg[i].len - offset;
		k = k < n ? k : n;
		rnic_transfer_copy(&it->d->transfers, it->out.sg[i].addr + offset, data, k);
		offset = 0;
		data += k;
		n -= k;
	}
}

// The device server has no buffer for it yet (the task waits for its turn or for memory).
static void park(struct dm_iser_task *it, uint32_t offset, const uint8_t *data, uint32_t n)
{
	struct dm_iser *d = it->d;
	struct dm_task *t = dm_task_of(it);
	if (!dm_park(&d->owed, t, &d->params)) {
		it->out.error = -ENOBUFS;
		return;
	}
	rnic_transfer_copy(&d->transfers, it->out.parked.addr + offset, data, n);
}

void dm_iser_take(struct dm_iser_task *it, uint32_t offset, const uint8_t *data, uint32_t n)
{
	struct dm_task *t = dm_task_of(it);
	if (it->out.error || t->is_finished || !n)
		return;
	if (it->out.wants_data)
		place(it, offset, data, n);
	else
		park(it, offset, data, n);
}

void dm_iser_unpark(struct dm_iser_task *it)
{
	uint32_t from = 0;
	if (it->rx && !it->out.error)
		place(it, 0, it->imm, from = it->imm_len);
	if (it->out.parked.addr && !it->out.error)
		place(it, from, it->out.parked.addr + from, it->out.received - from);
	dm_iser_drop_data(it);
}

// --- immediate data ---

void dm_iser_keep_immediate(struct dm_iser_task *it)
{
	struct dm_iser *d = it->d;
	it->out.received = it->out.requested = it->imm_len;
	it->rx = d->current;
	d->current = NULL;
	d->rx_task = it;
	d->rx_held++;
}

void dm_iser_give_back(struct dm_iser_task *it)
{
	struct dm_iser *d = it->d;
	if (d->rx_held + ISER_EXTRA_RX <= d->reserved && !it->rx->is_scarce)
		return;
	park(it, 0, it->imm, it->imm_len);
	rx_drop(it);
}
