// SPDX-License-Identifier: BSD-2-Clause
// The target's TCP mover: the life of a connection, and what it receives. RFC 7143 4.2; the
// interface is RFC 5047's.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/peer_memory.h"
#include "transport/iscsi/dm_tcp_priv.h"
#include "transport/wire/be.h"

static struct dm_tcp *conn_dm(struct pdu_conn *c)
{
	return container_of(c, struct dm_tcp, conn);
}

// --- called by the role ---

static void tcp_full_feature(struct dm *dm, const struct iscsi_params *params)
{
	pdu_conn_full_feature(&dm_tcp(dm)->conn, params);
}

static void tcp_flush(struct dm *dm)
{
	pdu_conn_flush(&dm_tcp(dm)->conn);
}

static void tcp_pause(struct dm *dm, bool is_paused)
{
	struct dm_tcp *d = dm_tcp(dm);
	d->is_paused = is_paused;
	dm_tcp_tx_flow(d);
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
	.send = dm_tcp_send,
	.get_data = dm_tcp_get_data,
	.put_part = dm_tcp_put_part,
	.put_data = dm_tcp_put_data,
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
		dm_tcp_send_reject(d, ISCSI_REJECT_DATA_DIGEST, bhs);
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
	dm_tcp_send_reject(d, reason, bhs);
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

int dm_tcp_new(struct dm **ret, struct worker *w, int fd, const struct dm_up *up, void *role,
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
	tcp_addr_format(stream_local(d->conn.stream), d->dm.local);
	tcp_addr_format(stream_peer(d->conn.stream), d->dm.peer);
	d->dm.local_addr = *stream_local(d->conn.stream);
	d->dm.peer_addr = *stream_peer(d->conn.stream);
	*ret = &d->dm;
	return 0;
}
