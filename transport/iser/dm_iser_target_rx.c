// SPDX-License-Identifier: BSD-2-Clause
// The target's iSER mover, receiving side: messages are checked and passed up; immediate data stays
// in its receive buffer until the command needs it, unsolicited Data-Outs are copied to their
// destination. RFC 7145 7.3.2 to 7.3.4, RFC 7143 11.7. The connection's worker.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/iser/dm_iser_target_priv.h"
#include "transport/wire/be.h"

// --- receive buffers ---

static void rx_drop(struct iser_task *it)
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

void iser_drop_data(struct iser_task *it)
{
	rx_drop(it);
	dm_parked_free(&it->d->owed, it->t);
}

void iser_forget(struct iser_task *it)
{
	iser_drop_data(it);
	dm_owed_remove(&it->d->owed, it->t);
	it->t->wants_data = false;
	it->t->owes_data = false;
}

// --- unsolicited data ---

// Copies n bytes at offset of the command's data to the device server's destination; drops bytes
// outside it.
static void place(struct iser_task *it, uint32_t offset, const uint8_t *data, uint32_t n)
{
	const struct dm_task *t = it->t;
	n = offset >= t->want ? 0 : n < t->want - offset ? n : t->want - offset;
	for (uint32_t i = 0; i < t->nsg && n; i++) {
		if (offset >= t->sg[i].len) {
			offset -= t->sg[i].len;
			continue;
		}
		uint32_t k = t->sg[i].len - offset;
		k = k < n ? k : n;
		iser_copy(it->d, t->sg[i].addr + offset, data, k);
		offset = 0;
		data += k;
		n -= k;
	}
}

// The device server has no buffer for it yet (the task waits for its turn or for memory).
static void park(struct iser_task *it, uint32_t offset, const uint8_t *data, uint32_t n)
{
	struct dm_iser *d = it->d;
	struct dm_task *t = it->t;
	if (!dm_park(&d->owed, t, &d->params)) {
		t->error = -ENOBUFS;
		return;
	}
	iser_copy(d, t->parked.addr + offset, data, n);
}

static void take(struct iser_task *it, uint32_t offset, const uint8_t *data, uint32_t n)
{
	struct dm_task *t = it->t;
	if (t->error || t->is_finished || !n)
		return;
	if (t->wants_data)
		place(it, offset, data, n);
	else
		park(it, offset, data, n);
}

// Data that waited for get_data.
static void unpark(struct iser_task *it)
{
	struct dm_task *t = it->t;
	uint32_t from = 0;
	if (it->rx && !t->error)
		place(it, 0, it->imm, from = it->imm_len);
	if (t->parked.addr && !t->error)
		place(it, from, t->parked.addr + from, t->received - from);
	iser_drop_data(it);
}

// --- the steps of a command's data-out ---

static void data_done(struct iser_task *it)
{
	struct dm_iser *d = it->d;
	struct dm_task *t = it->t;
	t->wants_data = false;
	dm_owed_remove(&d->owed, t);
	d->dm.up->data(&d->dm, t, t->error);
}

void iser_progress(struct iser_task *it)
{
	struct dm_task *t = it->t;
	if (t->wants_data)
		unpark(it);
	if (t->owes_data)
		return;
	if (t->is_finished) {
		struct dm_result *r = t->result;
		t->is_finished = false;
		iser_send_result(it, r);
		return;
	}
	if (!t->wants_data || it->transfer == ISER_READING)
		return;
	if (!t->error && t->want > t->expected_out)
		t->error = -EMSGSIZE; // never beyond the memory that the initiator advertised
	if (!t->error && t->received < t->want && !it->has_write)
		t->error = -EPROTO;
	if (t->error || t->received >= t->want)
		data_done(it);
	else
		iser_read(it, t->received);
}

void iser_get_data(struct dm *dm, struct dm_task *t, struct sg *sg, uint32_t nsg, uint32_t len)
{
	struct dm_iser *d = dm_iser(dm);
	struct iser_task *it = t->mover;
	t->sg = sg;
	t->nsg = nsg;
	t->want = len;
	t->wants_data = true;
	t->progress_ns = worker_now(d->worker);
	if (!t->owes_data)
		t->owed_ns = t->progress_ns;
	if (d->is_closed) {
		t->error = -EPIPE;
		t->owes_data = false;
	}
	iser_progress(it);
}

static bool is_owed(const struct iser_task *it)
{
	return it->t->owes_data || it->reads || (it->transfer == ISER_READING && it->t->wants_data);
}

uint64_t iser_oldest_owed(struct dm *dm)
{
	uint64_t oldest = 0;
	list_for_each (l, &dm_iser(dm)->tasks) {
		const struct iser_task *it = list_entry(l, struct iser_task, link);
		if (is_owed(it) && (!oldest || it->t->progress_ns < oldest))
			oldest = it->t->progress_ns;
	}
	return oldest;
}

uint64_t iser_owed_since(const struct dm_iser *d)
{
	uint64_t since = 0;
	list_for_each (l, &d->tasks) {
		const struct iser_task *it = list_entry(l, struct iser_task, link);
		if (is_owed(it) && (!since || it->t->owed_ns < since))
			since = it->t->owed_ns;
	}
	return since;
}

// --- commands ---

static struct iser_task *task_get(struct dm_iser *d)
{
	struct list *l = list_pop_front(&d->free_tasks);
	struct iser_task *it = l ? list_entry(l, struct iser_task, link) : malloc(sizeof *it);
	if (!it)
		return NULL;
	*it = (struct iser_task){ .d = d };
	return it;
}

// Its immediate data stays in the buffer of its message.
static void task_bind(struct iser_task *it, struct dm_task *t)
{
	struct dm_iser *d = it->d;
	it->t = t;
	t->mover = it;
	t->progress_ns = t->owed_ns = worker_now(d->worker);
	t->owes_data = !t->is_final;
	list_push_back(&d->tasks, &it->link);
	if (!dm_unasked_agreed(&d->params, t, it->imm_len))
		t->error = -EPROTO;
	if (t->owes_data)
		dm_owed_add(&d->owed, t);
	if (!it->imm_len || t->error)
		return;
	t->received = t->requested = it->imm_len;
	it->rx = d->current;
	d->current = NULL;
	d->rx_task = it;
	d->rx_held++;
}

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
static void give_back(struct iser_task *it)
{
	struct dm_iser *d = it->d;
	if (d->rx_held + ISER_EXTRA_RX <= d->reserved && !it->rx->is_scarce)
		return;
	park(it, 0, it->imm, it->imm_len);
	rx_drop(it);
}

static void on_command(struct dm_iser *d, const struct iser_msg *m)
{
	struct iser_task *it = task_get(d);
	if (!it) {
		iser_fail(d, -ENOMEM, "out of memory for a command");
		return;
	}
	it->has_write = m->has_write;
	it->has_read = m->has_read;
	it->write = m->write;
	it->read = m->read;
	it->room = read_room(m);
	it->imm = m->data;
	it->imm_len = m->pdu.data_len;
	struct dm_task *t = d->dm.up->command(&d->dm, &m->pdu, m->bhs, m->ahs);
	if (!t) {
		list_push_front(&d->free_tasks, &it->link);
		return;
	}
	task_bind(it, t);
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
		iser_fail(d, -EPROTO, "solicited Data-Out (iSER has no R2T)");
		return;
	}
	memcpy(&itt, h->itt, sizeof itt);
	struct dm_task *t = dm_owed_find(&d->owed, itt);
	if (!t)
		return; // probably aborted, with data still in transit
	struct iser_task *it = t->mover;
	t->progress_ns = worker_now(d->worker);
	if (!t->error)
		t->error = dm_unasked_check(&d->params, t, h, n);
	take(it, t->received, m->data, n);
	if (!t->error) {
		t->received += n;
		t->data_sn++;
	}
	if (!(h->flags & ISCSI_F))
		return;
	t->owes_data = false;
	t->requested = t->received;
	iser_progress(it);
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
		iser_fail(d, -EPROTO, "unexpected %s",
			  m->opcode == ISER_HELLO ? "Hello" : "HelloReply");
		return;
	}
	struct iser_tx *tx = iser_tx_get(d, 0);
	if (!tx)
		return;
	d->has_said_hello = true;
	d->is_hello_due = false;
	iser_hello_reply_put(tx->slot, d->qp->reads_out, !knows_version(m));
	iser_tx_post_header(d, tx);
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
		iser_reject(d, (uint8_t)r, m->bhs);
	else if (r == 0 && pdu.opcode == ISCSI_OP_SCSI_CMD)
		on_command(d, m);
	else if (r == 0 && pdu.opcode == ISCSI_OP_DATA_OUT)
		on_data_out(d, m);
	else if (r == 0)
		r = d->dm.up->control(&d->dm, &pdu, m->bhs, m->data, &e);
	if (r < 0)
		iser_fail(d, r, "%s", e.text);
}

void iser_received(struct dm_iser *d, struct rnic_rx *rx)
{
	struct iser_msg m;
	struct err e;
	d->current = rx;
	if (d->is_closing || d->is_closed) {
		// Messages still in transit are ignored.
	} else if (iser_msg_parse(&m, rx->data, rx->len, &e) < 0) {
		iser_fail(d, e.code, "%s", e.text);
	} else {
		d->pdus_in++;
		if (m.opcode != ISER_CONTROL)
			on_hello(d, &m);
		else if (d->is_hello_due)
			iser_fail(d, -EPROTO, "PDU before Hello (iSERHelloRequired=Yes)");
		else
			on_pdu(d, &m);
	}
	if (d->current)
		rnic_rx_put(d->current);
	d->current = NULL;
}
