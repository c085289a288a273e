// SPDX-License-Identifier: BSD-2-Clause
// The target's iSER mover, sends: their memory, control PDUs, task management responses that wait
// for RDMA in flight. RFC 7145 7.3, 8. The connection's worker.
//
// Sends use slots of a registered pool buffer, 16 in 4 KiB, allocated on demand, and freed beyond
// what the command window needs; login and discovery responses may use a buffer of their own.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/iser/dm_iser_priv.h"
#include "transport/wire/be.h"

void dm_iser_fail(struct dm_iser *d, int code, const char *fmt, ...)
{
	struct err why = { .code = code };
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why.text, sizeof why.text, fmt, ap);
	va_end(ap);
	d->dm.ops->close(&d->dm, false, &why);
}

// --- the memory of sends ---

int dm_iser_tx_add(struct dm_iser *d)
{
	struct dm_iser_slab *s = calloc(1, sizeof *s);
	struct rnic_mr *mr = NULL;
	if (s)
		s->buf = buf_get(d->worker, BUF_MIN);
	if (s && s->buf)
		mr = rnic_find(d->rnic, s->buf->addr, BUF_MIN);
	if (!mr) {
		int r = s && s->buf ? -ENOBUFS : -ENOMEM;
		if (s)
			buf_put(s->buf);
		free(s);
		return r;
	}
	for (unsigned i = 0; i < ISER_SLAB; i++) {
		s->tx[i].d = d;
		s->tx[i].slab = s;
		s->tx[i].slot = s->buf->addr + i * ISER_SLOT;
		s->tx[i].slot_mr = mr;
		list_push_back(&d->free_tx, &s->tx[i].link);
	}
	list_push_back(&d->slabs, &s->link);
	d->slab_count++;
	return 0;
}

static void slab_free(struct dm_iser *d, struct dm_iser_slab *s)
{
	for (unsigned i = 0; i < ISER_SLAB; i++)
		list_remove(&s->tx[i].link);
	list_remove(&s->link);
	d->slab_count--;
	buf_put(s->buf);
	free(s);
}

void dm_iser_tx_free(struct dm_iser *d)
{
	while (!list_empty(&d->slabs))
		slab_free(d, list_entry(d->slabs.next, struct dm_iser_slab, link));
}

static unsigned slabs_kept(const struct dm_iser *d)
{
	return (d->dm.window + ISER_EXTRA_RX) / ISER_SLAB + 1;
}

// tx may be gone afterwards.
static void tx_put(struct dm_iser_tx *tx)
{
	struct dm_iser *d = tx->d;
	buf_put(tx->big);
	tx->big = NULL;
	list_push_front(&d->free_tx, &tx->link);
	if (!--tx->slab->used && d->slab_count > slabs_kept(d))
		slab_free(d, tx->slab);
}

void dm_iser_tx_end(struct rnic_wr *wr)
{
	struct dm_iser_tx *tx = dm_iser_tx_of(wr);
	struct dm_iser *d = tx->d;
	d->tx_out--;
	rnic_out_ends(&d->transfers);
	tx_put(tx);
}

static void on_sent(struct rnic_wr *wr, int res)
{
	const struct dm_iser_tx *tx = dm_iser_tx_of(wr);
	struct dm_iser *d = tx->d;
	bool wants_sent = tx->flags & DM_WANTS_SENT && !res;
	dm_iser_tx_end(wr);
	if (wants_sent)
		d->dm.up->sent(&d->dm);
}

static bool tx_takes(struct dm_iser_tx *tx, uint32_t len)
{
	uint32_t all = ISER_HDR_LEN + ISCSI_BHS_LEN + len + 3; // and pad
	tx->sge = (struct rnic_sge){ .addr = tx->slot, .mr = tx->slot_mr };
	if (all <= ISER_SLOT)
		return true;
	tx->big = buf_get(tx->d->worker, all);
	if (!tx->big)
		return false;
	tx->sge.addr = tx->big->addr;
	tx->sge.mr = rnic_find(tx->d->rnic, tx->big->addr, all);
	return tx->sge.mr != NULL;
}

struct dm_iser_tx *dm_iser_tx_get(struct dm_iser *d, uint32_t len)
{
	struct list *l = NULL;
	int r = list_empty(&d->free_tx) ? dm_iser_tx_add(d) : 0;
	if (d->tx_out >= d->dm.window + ISER_TX_EXTRA)
		dm_iser_fail(d, -ENOBUFS, "the peer does not receive its responses");
	else if (r < 0 || !(l = list_pop_front(&d->free_tx)))
		dm_iser_fail(d, r, "out of memory for a response");
	if (!l)
		return NULL;
	struct dm_iser_tx *tx = list_entry(l, struct dm_iser_tx, link);
	tx->slab->used++;
	memset(&tx->wr, 0, sizeof tx->wr);
	tx->wr.opcode = RNIC_SEND;
	tx->wr.sge = &tx->sge;
	tx->wr.nsge = 1;
	tx->wr.done = on_sent;
	tx->task = NULL;
	tx->flags = 0;
	list_init(&tx->link);
	if (!tx_takes(tx, len)) {
		tx_put(tx);
		dm_iser_fail(d, -ENOMEM, "out of memory for a response");
		return NULL;
	}
	memset(tx->sge.addr, 0, ISER_HDR_LEN + ISCSI_BHS_LEN);
	return tx;
}

uint8_t *dm_iser_tx_bhs(struct dm_iser_tx *tx)
{
	return tx->sge.addr + ISER_HDR_LEN;
}

static void tx_post(struct dm_iser *d, struct dm_iser_tx *tx, uint32_t bytes)
{
	tx->sge.len = bytes;
	// RFC 7145 7.3: a target's sends must wake the initiator. Their completion need not wake
	// us: the next command does.
	tx->wr.flags = RNIC_SOLICITED | (tx->flags & DM_WANTS_SENT ? RNIC_SIGNALED : RNIC_LAZY);
	d->transfers.unsignaled = 0;
	d->tx_out++;
	rnic_out_begins(&d->transfers);
	int r = rnic_post(d->qp, &tx->wr);
	if (!r) {
		d->pdus_out++;
		return;
	}
	tx->wr.done(&tx->wr, r);
	dm_iser_fail(d, r, "cannot post a send");
}

void dm_iser_tx_post_header(struct dm_iser *d, struct dm_iser_tx *tx)
{
	tx_post(d, tx, ISER_HDR_LEN);
}

void dm_iser_tx_post(struct dm_iser *d, struct dm_iser_tx *tx, uint32_t len)
{
	uint8_t *bhs = dm_iser_tx_bhs(tx);
	iser_hdr_put(tx->sge.addr, NULL, NULL);
	put_be24(((struct iscsi_bhs *)bhs)->data_len, len);
	memset(bhs + ISCSI_BHS_LEN + len, 0, -len & 3);
	tx_post(d, tx, ISER_HDR_LEN + ISCSI_BHS_LEN + len + (-len & 3));
}

// --- control PDUs ---

static void control_post(struct dm_iser *d, struct dm_iser_tx *tx)
{
	uint8_t *bhs = dm_iser_tx_bhs(tx);
	if (!(tx->flags & DM_IS_LOGIN))
		dm_stamp(&d->dm, bhs);
	if (tx->flags & DM_ADVANCES)
		d->dm.sns->stat_sn++;
	dm_iser_tx_post(d, tx, get_be24(((struct iscsi_bhs *)bhs)->data_len));
}

static void held_send(struct rnic_held *h)
{
	struct dm_iser_tx *tx = container_of(h, struct dm_iser_tx, held);
	control_post(tx->d, tx);
}

void dm_iser_drop_held(struct dm_iser *d)
{
	for (struct list *l; (l = list_first(&d->drain.held));) {
		struct rnic_held *h = list_entry(l, struct rnic_held, link);
		rnic_drain_forget(&d->drain, h);
		tx_put(container_of(h, struct dm_iser_tx, held));
	}
}

// A command aborted with RDMA in flight ends when that is done: only then may the initiator reuse
// its memory. The peer determines how long: it answers the outstanding RDMA Reads or does not.
static void tmf_post(struct dm_iser *d, struct dm_iser_tx *tx)
{
	tx->held.send = held_send;
	if (rnic_drain_send(&d->drain, &tx->held))
		return;
	if (d->drain.held_count > d->dm.window + ISER_TX_EXTRA)
		dm_iser_fail(
			d, -ENOBUFS,
			"%u task management responses are waiting for RDMA Reads that the peer "
			"does not answer",
			d->drain.held_count);
}

// The receive buffers of initiators after login. A ping's data is not echoed: they do not expect
// any.
static uint32_t data_limit(const struct dm_iser *d, uint8_t opcode)
{
	if (d->phase != ISCSI_PHASE_FULL_FEATURE)
		return ISER_DATA_MAX;
	return opcode == ISCSI_OP_NOP_IN ? 0 : ISER_FFP_DATA_MAX;
}

void dm_iser_send(struct dm *dm, const uint8_t *bhs, const void *data, uint32_t len, unsigned flags)
{
	struct dm_iser *d = dm_iser(dm);
	uint8_t opcode = bhs[0] & ISCSI_OP_MASK;
	uint32_t most = data_limit(d, opcode);
	len = len < most ? len : most;
	struct dm_iser_tx *tx = d->is_closing || d->is_closed ? NULL : dm_iser_tx_get(d, len);
	if (!tx)
		return;
	uint8_t *to = dm_iser_tx_bhs(tx);
	memcpy(to, bhs, ISCSI_BHS_LEN);
	put_be24(((struct iscsi_bhs *)to)->data_len, len);
	if (len)
		memcpy(to + ISCSI_BHS_LEN, data, len);
	tx->flags = flags;
	if (opcode == ISCSI_OP_TMF_RSP)
		tmf_post(d, tx);
	else
		control_post(d, tx);
}

void dm_iser_reject(struct dm_iser *d, uint8_t reason, const uint8_t *bad)
{
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_REJECT, ISCSI_F, reason };
	put_be32(((struct iscsi_bhs *)bhs)->itt, ISCSI_TAG_NONE);
	dm_iser_send(&d->dm, bhs, bad, ISCSI_BHS_LEN, DM_ADVANCES);
}
