// SPDX-License-Identifier: BSD-2-Clause
// The target's iSER mover, sends: control PDUs, task management responses that wait for RDMA in
// flight. RFC 7145 7.3, 8. The connection's worker.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
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

// --- sends ---

static struct dm_iser *dm_iser_of(const struct rnic_send *tx)
{
	return container_of(tx->of, struct dm_iser, sends);
}

static void on_sent(struct rnic_wr *wr, int res)
{
	struct rnic_send *tx = rnic_send_of(wr);
	struct dm_iser *d = dm_iser_of(tx);
	bool wants_sent = tx->flags & DM_WANTS_SENT && !res;
	rnic_send_end(tx);
	if (wants_sent)
		d->dm.up->sent(&d->dm);
}

struct rnic_send *dm_iser_tx_get(struct dm_iser *d, uint32_t len)
{
	struct rnic_send *tx;
	d->sends.limit = d->dm.window + ISER_TX_EXTRA;
	d->sends.kept = d->dm.window + ISER_EXTRA_RX;
	int r = rnic_send_get(&d->sends, &tx, ISER_HDR_LEN + ISCSI_BHS_LEN + len + 3); // and pad
	if (r == -EAGAIN)
		dm_iser_fail(d, -ENOBUFS, "the peer does not receive its responses");
	else if (r < 0)
		dm_iser_fail(d, r, "out of memory for a response");
	if (r < 0)
		return NULL;
	tx->wr.done = on_sent;
	memset(tx->sge.addr, 0, ISER_HDR_LEN + ISCSI_BHS_LEN);
	return tx;
}

uint8_t *dm_iser_tx_bhs(struct rnic_send *tx)
{
	return tx->sge.addr + ISER_HDR_LEN;
}

static void tx_post(struct dm_iser *d, struct rnic_send *tx, uint32_t bytes)
{
	// RFC 7145 7.3: a target's sends must wake the initiator. Their completion need not wake
	// us: the next command does.
	unsigned flags = tx->flags & DM_WANTS_SENT ? RNIC_SIGNALED : RNIC_LAZY;
	int r = rnic_send_post(tx, bytes, RNIC_SOLICITED | flags);
	if (r < 0)
		dm_iser_fail(d, r, "cannot post a send");
	else
		d->pdus_out++;
}

void dm_iser_tx_post_header(struct dm_iser *d, struct rnic_send *tx)
{
	tx_post(d, tx, ISER_HDR_LEN);
}

void dm_iser_tx_post(struct dm_iser *d, struct rnic_send *tx, uint32_t len)
{
	uint8_t *bhs = dm_iser_tx_bhs(tx);
	iser_hdr_put(tx->sge.addr, NULL, NULL);
	put_be24(((struct iscsi_bhs *)bhs)->data_len, len);
	memset(bhs + ISCSI_BHS_LEN + len, 0, -len & 3);
	tx_post(d, tx, ISER_HDR_LEN + ISCSI_BHS_LEN + len + (-len & 3));
}

// --- control PDUs ---

static void control_post(struct dm_iser *d, struct rnic_send *tx)
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
	struct rnic_send *tx = container_of(h, struct rnic_send, held);
	control_post(dm_iser_of(tx), tx);
}

void dm_iser_drop_held(struct dm_iser *d)
{
	for (struct list *l; (l = list_first(&d->drain.held));) {
		struct rnic_held *h = list_entry(l, struct rnic_held, link);
		rnic_drain_forget(&d->drain, h);
		rnic_send_put(container_of(h, struct rnic_send, held));
	}
}

// A command aborted with RDMA in flight ends when that is done: only then may the initiator reuse
// its memory. The peer determines how long: it answers the outstanding RDMA Reads or does not.
static void tmf_post(struct dm_iser *d, struct rnic_send *tx)
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
	struct rnic_send *tx = d->is_closing || d->is_closed ? NULL : dm_iser_tx_get(d, len);
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
