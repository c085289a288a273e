// SPDX-License-Identifier: BSD-2-Clause
// The target's iSER mover, receiving side: messages are checked and passed up. RFC 7145 7.3.2 to
// 7.3.4, RFC 7143 11.7. The connection's worker.
#include <errno.h>
#include <string.h>

#include "transport/iser/dm_iser_priv.h"
#include "transport/wire/be.h"

// --- commands ---

// Bytes of data-in that the command has room for.
static uint32_t read_room(const struct iser_msg *m)
{
	const struct iscsi_scsi_cmd *h = (const void *)m->bhs;
	struct iscsi_ahs_info info;
	if (!(h->flags & ISCSI_CMD_R))
		return 0;
	if (!(h->flags & ISCSI_CMD_W))
		return get_be32(h->edtl);
	iscsi_ahs_parse(m->ahs, m->pdu.ahs_len, &info, NULL);
	return info.has_bidi_read ? info.bidi_read_len : 0;
}

// Takes over a task and what came with it: immediate data stays in the buffer of its message.
static struct dm_iser_task *task_init(struct dm_iser *d, const struct dm_task *t,
				      const struct iser_msg *m)
{
	struct dm_iser_task *it = dm_iser_task(t);
	*it = (struct dm_iser_task){ .d = d,
				     .move.of = &d->transfers,
				     .has_write = m->has_write,
				     .has_read = m->has_read,
				     .write = m->write,
				     .read = m->read,
				     .room = read_room(m),
				     .imm = m->data,
				     .imm_len = m->pdu.data_len };
	it->out.progress_ns = it->out.owed_ns = worker_now(d->worker);
	it->out.owes_data = !t->is_final;
	list_push_back(&d->tasks, &it->link);
	if (!dm_unasked_agreed(&d->params, t, it->imm_len))
		it->out.error = -EPROTO;
	return it;
}

static void on_command(struct dm_iser *d, const struct iser_msg *m)
{
	struct dm_task *t = d->dm.up->command(&d->dm, &m->pdu, m->bhs, m->ahs);
	if (!t)
		return;
	struct dm_iser_task *it = task_init(d, t, m);
	if (it->out.owes_data)
		dm_owed_add(&d->owed, t);
	if (it->imm_len && !it->out.error)
		dm_iser_keep_immediate(it);
	d->dm.up->begin(&d->dm, t);
	if (d->rx_task)
		dm_iser_give_back(d->rx_task);
	d->rx_task = NULL;
}

// --- Data-Out ---

static void on_data_out(struct dm_iser *d, const struct iser_msg *m)
{
	const struct iscsi_data_out *h = (const void *)m->bhs;
	uint32_t itt, n = m->pdu.data_len;
	if (get_be32(h->ttt) != ISCSI_TAG_NONE) {
		dm_iser_fail(d, -EPROTO, "solicited Data-Out (iSER has no R2T)");
		return;
	}
	memcpy(&itt, h->itt, sizeof itt);
	struct dm_task *t = dm_owed_find(&d->owed, itt);
	if (!t)
		return; // probably aborted, with data still in transit
	struct dm_iser_task *it = dm_iser_task(t);
	it->out.progress_ns = worker_now(d->worker);
	if (!it->out.error)
		it->out.error = dm_unasked_check(&d->params, t, h, n);
	dm_iser_take(it, it->out.received, m->data, n);
	if (!it->out.error) {
		it->out.received += n;
		it->out.data_sn++;
	}
	if (!(h->flags & ISCSI_F))
		return;
	it->out.owes_data = false;
	it->out.requested = it->out.received;
	dm_iser_progress(it);
}

// --- messages ---

// Only one iSER version is known. REJ tells the initiator why the connection closes.
static bool knows_version(const struct iser_msg *m)
{
	return m->version <= ISER_VERSION && m->version_max >= ISER_VERSION;
}

// RFC 7145 5.1, 9.3, 9.4: if the login declared iSERHelloRequired=Yes, a Hello is the first message
// of full feature phase. Some initiators send it before the login, as the first message of the
// connection.
static void on_hello(struct dm_iser *d, const struct iser_msg *m)
{
	struct err e;
	if (m->opcode != ISER_HELLO || !(d->is_hello_due || d->pdus_in == 1)) {
		dm_iser_fail(d, -EPROTO, "unexpected %s",
			     m->opcode == ISER_HELLO ? "Hello" : "HelloReply");
		return;
	}
	struct rnic_send *tx = dm_iser_tx_get(d, 0);
	if (!tx)
		return;
	d->has_said_hello = true;
	d->is_hello_due = false;
	iser_hello_reply_put(tx->sge.addr, d->qp->reads_out, !knows_version(m));
	dm_iser_tx_post_header(d, tx);
	if (knows_version(m))
		return;
	err_set(&e, -EPROTO, "Hello: initiator supports iSER versions %u to %u, not %u", m->version,
		m->version_max, ISER_VERSION);
	d->dm.ops->close(&d->dm, true, &e);
}

static void on_pdu(struct dm_iser *d, const struct iser_msg *m)
{
	struct err e = { 0 };
	struct iscsi_pdu pdu;
	uint32_t most =
		d->phase == ISCSI_PHASE_LOGIN ? ISCSI_LOGIN_DATA_MAX : d->params.max_recv_data;
	int r = iscsi_pdu_check(ISCSI_ROLE_TARGET, d->phase, m->bhs, most, &pdu, &e);
	if (r > 0)
		dm_iser_reject(d, (uint8_t)r, m->bhs);
	else if (r == 0 && pdu.opcode == ISCSI_OP_SCSI_CMD)
		on_command(d, m);
	else if (r == 0 && pdu.opcode == ISCSI_OP_DATA_OUT)
		on_data_out(d, m);
	else if (r == 0)
		r = d->dm.up->control(&d->dm, &pdu, m->bhs, m->data, &e);
	if (r < 0)
		dm_iser_fail(d, r, "%s", e.text);
}

void dm_iser_received(struct dm_iser *d, struct rnic_rx *rx)
{
	struct iser_msg m;
	struct err e;
	d->current = rx;
	if (d->is_closing || d->is_closed) {
		// Messages still in transit are ignored.
	} else if (iser_msg_parse(&m, rx->data, rx->len, &e) < 0) {
		dm_iser_fail(d, e.code, "%s", e.text);
	} else {
		d->pdus_in++;
		if (m.opcode != ISER_CONTROL)
			on_hello(d, &m);
		else if (d->is_hello_due)
			dm_iser_fail(d, -EPROTO, "PDU before Hello (iSERHelloRequired=Yes)");
		else
			on_pdu(d, &m);
	}
	if (d->current)
		rnic_rx_put(d->current);
	d->current = NULL;
}
