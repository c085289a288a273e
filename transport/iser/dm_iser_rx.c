// SPDX-License-Identifier: BSD-2-Clause
// The target's iSER mover, receiving side: messages are checked and passed up; immediate data stays
// in its receive buffer until the command needs it, unsolicited Data-Outs are copied to their
// destination. RFC 7145 7.3.2 to 7.3.4, RFC 7143 11.7. The connection's worker.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/iser/dm_iser_priv.h"
#include "transport/wire/be.h"

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

static void take(struct dm_iser_task *it, uint32_t offset, const uint8_t *data, uint32_t n)
{
	struct dm_task *t = dm_task_of(it);
	if (it->out.error || t->is_finished || !n)
		return;
	if (it->out.wants_data)
		place(it, offset, data, n);
	else
		park(it, offset, data, n);
}

// Data that waited for get_data.
static void unpark(struct dm_iser_task *it)
{
	uint32_t from = 0;
	if (it->rx && !it->out.error)
		place(it, 0, it->imm, from = it->imm_len);
	if (it->out.parked.addr && !it->out.error)
		place(it, from, it->out.parked.addr + from, it->out.received - from);
	dm_iser_drop_data(it);
}

// --- the steps of a command's data-out ---

static void data_done(struct dm_iser_task *it)
{
	struct dm_iser *d = it->d;
	struct dm_task *t = dm_task_of(it);
	it->out.wants_data = false;
	dm_owed_remove(&d->owed, t);
	d->dm.up->data(&d->dm, t, it->out.error);
}

void dm_iser_progress(struct dm_iser_task *it)
{
	struct dm_task *t = dm_task_of(it);
	if (it->out.wants_data)
		unpark(it);
	if (it->out.owes_data)
		return;
	if (t->is_finished) {
		struct dm_result *r = it->out.result;
		t->is_finished = false;
		dm_iser_send_result(it, r);
		return;
	}
	if (!it->out.wants_data || it->transfer == ISER_READING)
		return;
	if (!it->out.error && it->out.want > t->expected_out)
		it->out.error = -EMSGSIZE; // never beyond the memory that the initiator advertised
	if (!it->out.error && it->out.received < it->out.want && !it->has_write)
		it->out.error = -EPROTO;
	if (it->out.error || it->out.received >= it->out.want)
		data_done(it);
	else
		dm_iser_read(it, it->out.received);
}

void dm_iser_get_data(struct dm *dm, struct dm_task *t, struct sg *sg, uint32_t nsg, uint32_t len)
{
	struct dm_iser *d = dm_iser(dm);
	struct dm_iser_task *it = dm_iser_task(t);
	it->out.sg = sg;
	it->out.nsg = nsg;
	it->out.want = len;
	it->out.wants_data = true;
	it->out.progress_ns = worker_now(d->worker);
	if (!it->out.owes_data)
		it->out.owed_ns = it->out.progress_ns;
	if (d->is_closed) {
		it->out.error = -EPIPE;
		it->out.owes_data = false;
	}
	dm_iser_progress(it);
}

static bool is_owed(const struct dm_iser_task *it)
{
	return it->out.owes_data || it->move.reads ||
	       (it->transfer == ISER_READING && it->out.wants_data);
}

uint64_t dm_iser_oldest_owed(struct dm *dm)
{
	uint64_t oldest = 0;
	list_for_each (l, &dm_iser(dm)->tasks) {
		const struct dm_iser_task *it = list_entry(l, struct dm_iser_task, link);
		if (is_owed(it) && (!oldest || it->out.progress_ns < oldest))
			oldest = it->out.progress_ns;
	}
	return oldest;
}

uint64_t dm_iser_owed_since(const struct dm_iser *d)
{
	uint64_t since = 0;
	list_for_each (l, &d->tasks) {
		const struct dm_iser_task *it = list_entry(l, struct dm_iser_task, link);
		if (is_owed(it) && (!since || it->out.owed_ns < since))
			since = it->out.owed_ns;
	}
	return since;
}

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

// A command that must wait: its peer holds no more buffers than were reserved for it, and none that
// others may soon need.
static void give_back(struct dm_iser_task *it)
{
	struct dm_iser *d = it->d;
	if (d->rx_held + ISER_EXTRA_RX <= d->reserved && !it->rx->is_scarce)
		return;
	park(it, 0, it->imm, it->imm_len);
	rx_drop(it);
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

static void keep_immediate(struct dm_iser_task *it)
{
	struct dm_iser *d = it->d;
	it->out.received = it->out.requested = it->imm_len;
	it->rx = d->current;
	d->current = NULL;
	d->rx_task = it;
	d->rx_held++;
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
		keep_immediate(it);
	d->dm.up->begin(&d->dm, t);
	if (d->rx_task)
		give_back(d->rx_task);
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
	take(it, it->out.received, m->data, n);
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
	struct dm_iser_tx *tx = dm_iser_tx_get(d, 0);
	if (!tx)
		return;
	d->has_said_hello = true;
	d->is_hello_due = false;
	iser_hello_reply_put(tx->slot, d->qp->reads_out, !knows_version(m));
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
