// SPDX-License-Identifier: BSD-2-Clause
// The target's TCP mover: connection, control PDUs, Data-In and status (with the status
// collapsed into the last Data-In where possible). RFC 7143 4.2, 11.4, 11.7; the interface
// is RFC 5047's.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/iscsi/dm_tcp_target.h"
#include "transport/iscsi/peer_memory.h"
#include "transport/wire/be.h"

// A peer that does not read its answers is not served further beyond this many of them, or when
// they, with echoes, texts and data frozen for its digest, take the memory it may have.
#define TX_STOP	 4096
#define TX_START 1024

static struct dm_tcp *conn_dm(struct pdu_conn *c)
{
	return container_of(c, struct dm_tcp, conn);
}

static void tx_flow(struct dm_tcp *d)
{
	const struct pdu_conn *c = &d->conn;
	uint64_t most = peer_memory_limit(PEER_ANSWERS);
	if (d->is_paused || c->tx_count > TX_STOP || c->tx_kept > most)
		pdu_conn_stop_rx(&d->conn);
	else if (c->is_rx_stopped && c->tx_count < TX_START && c->tx_kept < most / 4)
		pdu_conn_start_rx(&d->conn);
}

static void on_task_sent(struct pdu_conn *c, void *owner, int res)
{
	struct dm_task *t = owner;
	struct dm_tcp_task *tt = dm_tcp_task(t);
	struct dm_tcp *d = conn_dm(c);
	if (d->conn.is_rx_stopped)
		tx_flow(d);
	if (!--tt->tx_pending)
		d->dm.up->released(&d->dm, t);
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

static bool send_data_in(struct dm_tcp *d, struct dm_task *t, struct dm_result *r, uint32_t *ret_sn)
{
	struct dm_tcp_task *tt = dm_tcp_task(t);
	bool collapse = may_collapse(r);
	uint32_t burst = 0, sn = 0;
	for (uint32_t done = 0; done < r->data_len; sn++) {
		struct pdu_tx *tx = task_tx(d, t, ISCSI_OP_DATA_IN, 0);
		if (!tx)
			return false;
		uint32_t n = r->data_len - done;
		n = n < d->params.max_send_data ? n : d->params.max_send_data;
		n = n < d->params.max_burst - burst ? n : d->params.max_burst - burst;
		tx->sg = r->sg;
		tx->nsg = r->nsg;
		tx->sg_offset = done;
		tx->data_len = n;
		struct iscsi_data_in *h = (void *)tx->bhs;
		put_be32(h->data_sn, sn);
		put_be32(h->buffer_offset, done);
		put_be32(h->ttt, ISCSI_TAG_NONE);
		done += n;
		burst += n;
		if (burst == d->params.max_burst || done == r->data_len) {
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
	*ret_sn = sn;
	return true;
}

static bool send_status(struct dm_tcp *d, struct dm_task *t, struct dm_result *r, uint32_t data_sn)
{
	struct pdu_tx *tx = task_tx(d, t, ISCSI_OP_SCSI_RSP, ISCSI_F | r->residual_flags);
	if (!tx)
		return false;
	struct iscsi_scsi_rsp *h = (void *)tx->bhs;
	h->response = r->response;
	h->status = r->status;
	put_be32(h->exp_data_sn, data_sn);
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
	uint32_t sn = 0;
	dm_tcp_forget(d, t);
	tt->tx_pending++; // holds the task until everything is queued
	bool ok = !r || d->conn.is_closed;
	if (!ok) {
		ok = send_data_in(d, t, r, &sn);
		if (ok && !may_collapse(r))
			ok = send_status(d, t, r, sn);
		tx_flow(d);
	}
	if (!--tt->tx_pending)
		d->dm.up->released(&d->dm, t);
	if (!ok)
		out_of_memory(d);
}

// --- called by the role ---

static void tcp_put_data(struct dm *dm, struct dm_task *t, struct dm_result *r)
{
	struct dm_out *out = dm_out(t);
	struct dm_tcp *d = dm_tcp(dm);
	if (!r) {
		t->is_finished = false;
		dm_tcp_send_result(d, t, NULL);
		return;
	}
	if (out->owes_data && !d->conn.is_closed) {
		pdu_conn_discard(&d->conn, t);
		t->is_finished = true;
		out->result = r;
		return;
	}
	dm_tcp_send_result(d, t, r);
}

static void on_control_sent(struct pdu_conn *c, void *owner, int res)
{
	struct dm_tcp *d = conn_dm(c);
	if (d->conn.is_rx_stopped)
		tx_flow(d);
	if (!res && owner)
		d->dm.up->sent(&d->dm);
}

static void tcp_send(struct dm *dm, const uint8_t *bhs, const void *data, uint32_t len,
		     unsigned flags)
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
	tx_flow(d);
}

static void tcp_full_feature(struct dm *dm, const struct iscsi_params *params)
{
	struct dm_tcp *d = dm_tcp(dm);
	d->params = *params;
	pdu_conn_full_feature(&d->conn, params);
}

static void tcp_flush(struct dm *dm)
{
	pdu_conn_flush(&dm_tcp(dm)->conn);
}

static void tcp_pause(struct dm *dm, bool is_paused)
{
	struct dm_tcp *d = dm_tcp(dm);
	d->is_paused = is_paused;
	tx_flow(d);
}

static void tcp_close(struct dm *dm, bool linger, const struct err *why)
{
	pdu_conn_close(&dm_tcp(dm)->conn, linger, why);
}

static void tcp_free(struct dm *dm)
{
	struct dm_tcp *d = dm_tcp(dm);
	pdu_conn_done(&d->conn);
	free(d);
}

static uint64_t tx_since(const struct pdu_conn *c)
{
	return list_empty(&c->tx) ? 0 : list_entry(c->tx.next, struct pdu_tx, link)->queued_ns;
}

static void tcp_counters(struct dm *dm, struct dm_counters *ret)
{
	const struct dm_tcp *d = dm_tcp(dm);
	const struct pdu_conn *c = &d->conn;
	*ret = (struct dm_counters){ .pdus_in = c->pdus_in,
				     .pdus_out = c->pdus_out,
				     .bytes_in = c->bytes_in,
				     .bytes_out = c->bytes_out,
				     .digest_errors = c->digest_errors,
				     .copied = c->copied,
				     .owed_since_ns = dm_tcp_owed_since(d),
				     .tx_stuck_ns = list_empty(&c->tx) ? 0 : c->last_tx_ns,
				     .tx_since_ns = tx_since(c),
				     .partial_ns = c->buffer ? c->buffer_ns : 0,
				     .closing_ns = c->is_closing ? c->closing_ns : 0,
				     .last_rx_ns = c->last_rx_ns };
}

static const struct dm_ops tcp_ops = {
	.send = tcp_send,
	.get_data = dm_tcp_get_data,
	.put_data = tcp_put_data,
	.full_feature = tcp_full_feature,
	.flush = tcp_flush,
	.pause = tcp_pause,
	.close = tcp_close,
	.free = tcp_free,
	.oldest_owed = dm_tcp_oldest_owed,
	.counters = tcp_counters,
};

// --- receiving ---

static void on_command(struct dm_tcp *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		       const uint8_t *ahs, struct pdu_sink *sink)
{
	struct dm_task *t = d->dm.up->command(&d->dm, pdu, bhs, ahs);
	if (!t)
		return;
	memset(dm_tcp_task(t), 0, offsetof(struct dm_tcp_task, r2t));
	dm_out(t)->owes_data = !t->is_final || pdu->data_len;
	if (pdu->data_len || (bhs[1] & (ISCSI_F | ISCSI_CMD_W)) != ISCSI_F)
		dm_tcp_take(d, t, pdu);
	d->dm.up->begin(&d->dm, t);
	// The destination is known best now; the data of a task that has ended is discarded.
	if (d->rx_task && !d->conn.is_closed)
		dm_tcp_sink(d, d->rx_task, 0, pdu->data_len, sink);
}

// Whether there is memory for a ping's data. Without, it is answered without, as over iSER.
static bool may_keep(const struct dm_tcp *d, uint32_t len)
{
	return !peer_memory_is_short(PEER_ANSWERS) ||
	       d->conn.tx_kept + len <= peer_memory_limit(PEER_ANSWERS);
}

static int on_header(struct pdu_conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		     const uint8_t *ahs, struct pdu_sink *sink, struct err *e)
{
	struct dm_tcp *d = conn_dm(c);
	d->rx_task = NULL;
	switch (pdu->opcode) {
	case ISCSI_OP_SCSI_CMD:
		on_command(d, pdu, bhs, ahs, sink);
		return 0;
	case ISCSI_OP_DATA_OUT:
		dm_tcp_data_out(d, pdu, bhs, sink);
		return 0;
	default:
		if (!pdu->data_len)
			return d->dm.up->control(&d->dm, pdu, bhs, NULL, e);
		if (pdu->opcode == ISCSI_OP_TEXT_REQ && pdu->data_len > ISCSI_LOGIN_DATA_MAX)
			return err_set(e, -EPROTO, "Text Request of more than %u bytes",
				       ISCSI_LOGIN_DATA_MAX);
		d->is_ping_cut = pdu->opcode == ISCSI_OP_NOP_OUT && !may_keep(d, pdu->data_len);
		sink->kind = d->is_ping_cut ? PDU_DISCARD : PDU_TO_BUFFER;
		return 0;
	}
}

static void send_reject(struct dm_tcp *d, uint8_t reason, const uint8_t *bad)
{
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_REJECT, ISCSI_F, reason };
	put_be32(((struct iscsi_bhs *)bhs)->itt, ISCSI_TAG_NONE);
	tcp_send(&d->dm, bhs, bad, ISCSI_BHS_LEN, DM_ADVANCES);
}

static int on_received(struct pdu_conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		       const uint8_t *data, int res, struct err *e)
{
	struct dm_tcp *d = conn_dm(c);
	if (pdu->opcode == ISCSI_OP_SCSI_CMD || pdu->opcode == ISCSI_OP_DATA_OUT) {
		dm_tcp_data_received(d, pdu, bhs, res);
		return 0;
	}
	if (res) {
		// RFC 7143 7.8: the PDU is discarded with a Reject, and the initiator retries.
		d->is_ping_cut = false;
		send_reject(d, ISCSI_REJECT_DATA_DIGEST, bhs);
		return 0;
	}
	if (d->is_ping_cut) {
		struct iscsi_pdu cut = *pdu;
		cut.data_len = 0;
		d->is_ping_cut = false;
		return d->dm.up->control(&d->dm, &cut, bhs, NULL, e);
	}
	return data ? d->dm.up->control(&d->dm, pdu, bhs, data, e) : 0;
}

static void on_ahead(struct pdu_conn *c, const uint8_t *bhs)
{
	struct dm_tcp *d = conn_dm(c);
	d->dm.up->ahead(&d->dm, bhs && (bhs[0] & ISCSI_OP_MASK) == ISCSI_OP_SCSI_CMD ? bhs : NULL);
}

static int on_reject(struct pdu_conn *c, uint8_t reason, const uint8_t *bhs, struct err *e)
{
	struct dm_tcp *d = conn_dm(c);
	if (c->phase == ISCSI_PHASE_LOGIN)
		return e->code ? e->code : err_set(e, -EPROTO, "malformed PDU during login");
	send_reject(d, reason, bhs);
	return 0;
}

static void on_closed(struct pdu_conn *c, const struct err *e)
{
	struct dm_tcp *d = conn_dm(c);
	d->dm.up->closed(&d->dm, e);
}

static const struct pdu_conn_ops conn_ops = {
	.header = on_header,
	.received = on_received,
	.ahead = on_ahead,
	.reject = on_reject,
	.closed = on_closed,
};

int dm_tcp_target_new(struct dm **ret, struct worker *w, int fd, const struct dm_up *up, void *role,
		      struct err *e)
{
	struct dm_tcp *d = calloc(1, sizeof *d);
	if (!d) {
		close(fd);
		return err_set(e, -ENOMEM, "out of memory for a connection");
	}
	d->dm.ops = &tcp_ops;
	d->dm.up = up;
	d->dm.role = role;
	d->dm.transport = d->dm.carrier = "TCP";
	d->dm.task_size = sizeof(struct dm_tcp_task);
	int r = pdu_conn_init(&d->conn, w, fd, ISCSI_ROLE_TARGET, &conn_ops, d, e);
	if (r < 0) {
		free(d);
		return r;
	}
	iscsi_params_init(&d->params);
	tcp_addr_format(stream_local(d->conn.stream), d->dm.local);
	tcp_addr_format(stream_peer(d->conn.stream), d->dm.peer);
	d->dm.local_addr = *stream_local(d->conn.stream);
	d->dm.peer_addr = *stream_peer(d->conn.stream);
	*ret = &d->dm;
	return 0;
}
