// SPDX-License-Identifier: BSD-2-Clause
// The target's TCP mover, sending: Data-In and status (with the status collapsed into the last
// Data-In where possible), control PDUs; a peer that does not read is not served further.
// RFC 7143 4.2, 11.4, 11.7.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/peer_memory.h"
#include "transport/iscsi/dm_tcp_priv.h"
#include "transport/wire/be.h"

// A peer that does not read its answers is not served further beyond this many of them, or when
// they, with echoes, texts and data frozen for its digest, take the memory it may have.
#define TX_STOP	 4096
#define TX_START 1024

static struct dm_tcp *conn_dm(struct pdu_conn *c)
{
	return container_of(c, struct dm_tcp, conn);
}

void dm_tcp_tx_flow(struct dm_tcp *d)
{
	const struct pdu_conn *c = &d->conn;
	uint64_t most = peer_memory_limit(PEER_ANSWERS);
	if (d->is_paused || c->tx_count > TX_STOP || c->tx_kept > most)
		pdu_conn_stop_rx(&d->conn);
	else if (c->is_rx_stopped && c->tx_count < TX_START && c->tx_kept < most / 4)
		pdu_conn_start_rx(&d->conn);
}

// A PDU of t has gone. The task may be freed inside.
static void tx_settle(struct dm_tcp *d, struct dm_task *t)
{
	struct dm_tcp_task *tt = dm_tcp_task(t);
	if (--tt->tx_pending)
		return;
	if (tt->is_part) {
		tt->is_part = false;
		d->dm.up->part(&d->dm, t, tt->part_res);
	} else {
		d->dm.up->released(&d->dm, t);
	}
}

static void on_task_sent(struct pdu_conn *c, void *owner, int res)
{
	struct dm_task *t = owner;
	struct dm_tcp_task *tt = dm_tcp_task(t);
	struct dm_tcp *d = conn_dm(c);
	if (d->conn.is_rx_stopped)
		dm_tcp_tx_flow(d);
	if (__builtin_expect(res == -EFAULT, 0))
		t->is_unreadable = true;
	if (res < 0)
		tt->part_res = -EPIPE;
	tx_settle(d, t);
}

// --- Data-In and status ---

static struct pdu_tx *task_tx(struct dm_tcp *d, struct dm_task *t, uint8_t opcode, uint8_t flags)
{
	struct pdu_tx *tx = pdu_tx_get(&d->conn);
	if (!tx)
		return NULL;
	tx->bhs[0] = opcode;
	tx->bhs[1] = flags;
	memcpy(((struct iscsi_bhs *)tx->bhs)->itt, &t->itt, sizeof t->itt);
	return tx;
}

static bool may_collapse(const struct dm_result *r)
{
	return r->data_len && r->status == 0 && !r->sense_len && !r->residual_flags &&
	       r->response == ISCSI_RSP_COMPLETED;
}

static void out_of_memory(struct dm_tcp *d)
{
	struct err e;
	err_set(&e, -ENOMEM, "out of memory for a response");
	pdu_conn_close(&d->conn, false, &e);
}

static bool send_data_in(struct dm_tcp *d, struct dm_task *t, struct dm_result *r, bool collapse)
{
	struct dm_tcp_task *tt = dm_tcp_task(t);
	uint32_t burst = 0;
	for (uint32_t done = 0; done < r->data_len;) {
		struct pdu_tx *tx = task_tx(d, t, ISCSI_OP_DATA_IN, 0);
		if (!tx)
			return false;
		uint32_t n = r->data_len - done;
		n = n < d->conn.params.max_send_data ? n : d->conn.params.max_send_data;
		n = n < d->conn.params.max_burst - burst ? n : d->conn.params.max_burst - burst;
		tx->sg = r->sg;
		tx->nsg = r->nsg;
		tx->sg_offset = done;
		tx->data_len = n;
		struct iscsi_data_in *h = (void *)tx->bhs;
		put_be32(h->data_sn, tt->in_sn++);
		put_be32(h->buffer_offset, tt->in_at);
		put_be32(h->ttt, ISCSI_TAG_NONE);
		done += n;
		tt->in_at += n;
		burst += n;
		if (burst == d->conn.params.max_burst || done == r->data_len) {
			h->flags |= ISCSI_F;
			burst = 0;
		}
		dm_stamp(&d->dm, tx->bhs);
		if (done == r->data_len && collapse) {
			h->flags |= ISCSI_DATA_S;
			d->dm.sns->stat_sn++;
		} else {
			put_be32(h->stat_sn, 0);
		}
		tx->sent = on_task_sent;
		tx->owner = t;
		tt->tx_pending++;
		tx->freezes = d->conn.data_digest;
		pdu_tx_queue(&d->conn, tx);
	}
	return true;
}

static bool send_status(struct dm_tcp *d, struct dm_task *t, struct dm_result *r)
{
	struct pdu_tx *tx = task_tx(d, t, ISCSI_OP_SCSI_RSP, ISCSI_F | r->residual_flags);
	if (!tx)
		return false;
	struct iscsi_scsi_rsp *h = (void *)tx->bhs;
	h->response = r->response;
	h->status = r->status;
	put_be32(h->exp_data_sn, dm_tcp_task(t)->in_sn);
	put_be32(h->residual, r->residual);
	if (r->sense_len) {
		tx->data_len = r->sense_len + 2;
		tx->data = malloc(tx->data_len);
		tx->owns_data = true;
		if (!tx->data) {
			pdu_tx_put(&d->conn, tx);
			return false;
		}
		put_be16(tx->data, (uint16_t)r->sense_len);
		memcpy(tx->data + 2, r->sense, r->sense_len);
	}
	dm_stamp(&d->dm, tx->bhs);
	d->dm.sns->stat_sn++;
	pdu_tx_queue(&d->conn, tx);
	return true;
}

void dm_tcp_send_result(struct dm_tcp *d, struct dm_task *t, struct dm_result *r)
{
	struct dm_tcp_task *tt = dm_tcp_task(t);
	tt->is_part = false;
	tt->tx_pending++; // holds the task until everything is queued
	bool ok = !r || d->conn.is_closed;
	if (!ok) {
		ok = send_data_in(d, t, r, may_collapse(r));
		if (ok && !may_collapse(r))
			ok = send_status(d, t, r);
		dm_tcp_tx_flow(d);
	}
	tx_settle(d, t);
	if (!ok)
		out_of_memory(d);
}

// Of a closed connection up->part does not follow: the close ends its tasks.
void dm_tcp_put_part(struct dm *dm, struct dm_task *t, struct sg *sg, uint32_t nsg, uint32_t len)
{
	struct dm_tcp *d = dm_tcp(dm);
	struct dm_result part = { .sg = sg, .nsg = nsg, .data_len = len };
	if (d->conn.is_closed)
		return;
	dm_tcp_task(t)->is_part = true;
	dm_tcp_task(t)->part_res = 0;
	if (!send_data_in(d, t, &part, false))
		out_of_memory(d);
	else
		dm_tcp_tx_flow(d);
}

// --- control PDUs ---

static void on_control_sent(struct pdu_conn *c, void *owner, int res)
{
	struct dm_tcp *d = conn_dm(c);
	if (d->conn.is_rx_stopped)
		dm_tcp_tx_flow(d);
	if (!res && owner)
		d->dm.up->sent(&d->dm);
}

void dm_tcp_send(struct dm *dm, const uint8_t *bhs, const void *data, uint32_t len, unsigned flags)
{
	struct dm_tcp *d = dm_tcp(dm);
	struct pdu_tx *tx = pdu_tx_copy(&d->conn, bhs, data, len);
	if (!tx) {
		out_of_memory(d);
		return;
	}
	if (!(flags & DM_IS_LOGIN))
		dm_stamp(&d->dm, tx->bhs);
	if (flags & DM_ADVANCES)
		d->dm.sns->stat_sn++;
	tx->sent = on_control_sent;
	tx->owner = flags & DM_WANTS_SENT ? d : NULL;
	pdu_tx_queue(&d->conn, tx);
	dm_tcp_tx_flow(d);
}

void dm_tcp_send_reject(struct dm_tcp *d, uint8_t reason, const uint8_t *bad)
{
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_REJECT, ISCSI_F, reason };
	put_be32(((struct iscsi_bhs *)bhs)->itt, ISCSI_TAG_NONE);
	dm_tcp_send(&d->dm, bhs, bad, ISCSI_BHS_LEN, DM_ADVANCES);
}
