// SPDX-License-Identifier: BSD-2-Clause
// The target's TCP mover, data-out: immediate data, unsolicited and solicited Data-Out, R2T.
// RFC 7143 4.2.5.2, 11.7, 11.8.
#include <errno.h>
#include <string.h>

#include "transport/iscsi/dm_tcp_priv.h"
#include "transport/wire/be.h"

// Its memory receives no more bytes.
static void forget(struct dm_tcp *d, struct dm_task *t)
{
	struct dm_out *out = dm_out(t);
	pdu_conn_discard(&d->conn, t);
	if (d->rx_task == t)
		d->rx_task = NULL;
	dm_owed_remove(&d->owed, t);
	dm_parked_free(&d->owed, t);
	out->wants_data = false;
}

// --- the destination of a segment ---

void dm_tcp_sink(struct dm_tcp *d, struct dm_task *t, uint32_t offset, uint32_t len,
		 struct pdu_sink *sink)
{
	struct dm_out *out = dm_out(t);
	uint32_t room = out->want;
	sink->owner = t;
	sink->sg_offset = offset - out->base;
	if (out->error || t->is_finished)
		return;
	if (out->wants_data) {
		sink->sg = out->sg;
		sink->nsg = out->nsg;
	} else {
		// The device server has no buffer for it yet (the task waits for its turn or for
		// memory): later commands must not be held up.
		if (!dm_park(&d->owed, t, &d->conn.params)) {
			out->error = -ENOBUFS;
			return;
		}
		sink->sg = &out->parked;
		sink->nsg = 1;
		room = out->parked.len;
	}
	sink->kind = PDU_TO_SG;
	sink->len = offset >= room ? 0 : len < room - offset ? len : room - offset;
}

void dm_tcp_take(struct dm_tcp *d, struct dm_task *t, const struct iscsi_pdu *pdu)
{
	struct dm_out *out = dm_out(t);
	out->owed_ns = out->progress_ns = worker_now(d->conn.worker);
	if (!dm_unasked_agreed(&d->conn.params, t, pdu->data_len))
		out->error = -EPROTO;
	if (t->expected_out > pdu->data_len || !t->is_final)
		dm_owed_add(&d->owed, t);
	if (pdu->data_len)
		d->rx_task = t;
	d->is_rx_solicited = false;
}

static bool out_is_solicited(const struct iscsi_data_out *h)
{
	return get_be32(h->ttt) != ISCSI_TAG_NONE;
}

// Whether a Data-Out continues the task's current sequence.
static int out_check(const struct dm_tcp *d, const struct dm_task *t,
		     const struct iscsi_data_out *h, uint32_t len)
{
	const struct dm_out *out = dm_out(t);
	const struct dm_tcp_task *tt = dm_tcp_task(t);
	uint32_t offset = get_be32(h->buffer_offset), sn = get_be32(h->data_sn);
	if (!out_is_solicited(h)) {
		if (!out->owes_data)
			return -EPROTO;
		return dm_unasked_check(&d->conn.params, t, h, len);
	}
	const struct dm_r2t *r = &tt->r2t[0];
	if (!tt->r2t_count || get_be32(h->ttt) != r->ttt)
		return -EPROTO;
	if (sn != r->data_sn || offset != r->offset + r->received || len > r->len - r->received)
		return -EMSGSIZE;
	return (h->flags & ISCSI_F) && len != r->len - r->received ? -EMSGSIZE : 0;
}

// --- the next step ---

static void r2t_send(struct dm_tcp *d, struct dm_task *t)
{
	struct dm_out *out = dm_out(t);
	struct dm_tcp_task *tt = dm_tcp_task(t);
	struct pdu_tx *tx = pdu_tx_get(&d->conn);
	if (!tx) {
		out->error = -ENOMEM;
		return;
	}
	struct dm_r2t *r = &tt->r2t[tt->r2t_count++];
	uint32_t len = out->want - out->requested;
	*r = (struct dm_r2t){ .ttt = d->next_ttt++, .offset = out->requested };
	r->len = len < d->conn.params.max_burst ? len : d->conn.params.max_burst;
	if (d->next_ttt == ISCSI_TAG_NONE)
		d->next_ttt = 0;
	out->requested += r->len;
	struct iscsi_r2t *h = (void *)tx->bhs;
	h->opcode = ISCSI_OP_R2T;
	h->flags = ISCSI_F;
	memcpy(h->lun, t->lun, sizeof h->lun);
	memcpy(h->itt, &t->itt, sizeof h->itt);
	put_be32(h->ttt, r->ttt);
	put_be32(h->r2t_sn, tt->r2t_sn++);
	put_be32(h->buffer_offset, r->offset);
	put_be32(h->desired_len, r->len);
	dm_stamp(&d->dm, tx->bhs);
	pdu_tx_queue(&d->conn, tx);
}

static void data_done(struct dm_tcp *d, struct dm_task *t)
{
	struct dm_out *out = dm_out(t);
	int error = out->error;
	out->wants_data = false;
	dm_owed_remove(&d->owed, t);
	d->dm.up->data(&d->dm, t, error);
}

static void unpark(struct dm_tcp *d, struct dm_task *t)
{
	struct dm_out *out = dm_out(t);
	uint32_t done = 0;
	for (uint32_t i = 0; i < out->nsg && done < out->received; i++) {
		uint32_t n = out->sg[i].len;
		n = n < out->received - done ? n : out->received - done;
		buf_copy_for(d->conn.worker, &d->conn.copied, out->sg[i].addr,
			     out->parked.addr + done, n);
		done += n;
	}
}

static void send_result(struct dm_tcp *d, struct dm_task *t, struct dm_result *r)
{
	forget(d, t);
	dm_tcp_send_result(d, t, r);
}

static void progress(struct dm_tcp *d, struct dm_task *t)
{
	struct dm_out *out = dm_out(t);
	struct dm_tcp_task *tt = dm_tcp_task(t);
	if (d->rx_task == t)
		return; // in the middle of receiving a segment of t
	if (out->wants_data && out->parked.addr) {
		unpark(d, t);
		dm_parked_free(&d->owed, t);
	}
	if (out->owes_data)
		return;
	if (t->is_finished) {
		struct dm_result *r = out->result;
		t->is_finished = false;
		send_result(d, t, r);
		return;
	}
	if (!out->wants_data)
		return;
	// After an error, outstanding data must still arrive before the status is sent.
	if (out->error ? !tt->r2t_count : out->received >= out->want) {
		data_done(d, t);
		return;
	}
	uint32_t most = d->conn.params.max_outstanding_r2t;
	most = most < DM_R2T_MAX ? most : DM_R2T_MAX;
	while (!out->error && tt->r2t_count < most && out->requested < out->want)
		r2t_send(d, t);
}

// --- segments ---

static void r2t_pop(struct dm_task *t)
{
	struct dm_tcp_task *tt = dm_tcp_task(t);
	if (!tt->r2t_count)
		return;
	tt->r2t_count--;
	memmove(tt->r2t, tt->r2t + 1, tt->r2t_count * sizeof tt->r2t[0]);
}

void dm_tcp_data_received(struct dm_tcp *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
			  int res)
{
	struct dm_task *t = d->rx_task;
	struct dm_out *out = dm_out(t);
	struct dm_tcp_task *tt = dm_tcp_task(t);
	d->rx_task = NULL;
	if (!t)
		return;
	bool is_out = pdu->opcode == ISCSI_OP_DATA_OUT;
	bool is_last = is_out ? (bhs[1] & ISCSI_F) != 0 : t->is_final;
	if (res && !out->error)
		out->error = res;
	if (!out->error) {
		out->received += pdu->data_len;
		if (d->is_rx_solicited) {
			tt->r2t[0].received += pdu->data_len;
			tt->r2t[0].data_sn++;
		} else if (is_out) {
			out->data_sn++;
		}
	}
	if (is_last && d->is_rx_solicited) {
		r2t_pop(t);
	} else if (is_last) {
		out->owes_data = false;
		out->requested = out->received;
	}
	progress(d, t);
}

void dm_tcp_data_out(struct dm_tcp *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		     struct pdu_sink *sink)
{
	const struct iscsi_data_out *h = (const void *)bhs;
	uint32_t itt;
	memcpy(&itt, h->itt, sizeof itt);
	struct dm_task *t = dm_owed_find(&d->owed, itt);
	struct dm_out *out = dm_out(t);
	d->rx_task = t;
	d->is_rx_solicited = out_is_solicited(h);
	if (!t)
		return; // probably aborted, with data still in transit
	out->progress_ns = worker_now(d->conn.worker);
	if (!out->error)
		out->error = out_check(d, t, h, pdu->data_len);
	if (pdu->data_len)
		dm_tcp_sink(d, t, get_be32(h->buffer_offset), pdu->data_len, sink);
	else
		dm_tcp_data_received(d, pdu, bhs, 0);
}

// --- called by the role ---

void dm_tcp_get_data(struct dm *dm, struct dm_task *t, struct sg *sg, uint32_t nsg, uint32_t len)
{
	struct dm_out *out = dm_out(t);
	struct dm_tcp_task *tt = dm_tcp_task(t);
	struct dm_tcp *d = dm_tcp(dm);
	out->sg = sg;
	out->nsg = nsg;
	out->base = out->want;
	out->want += len;
	out->wants_data = true;
	out->progress_ns = worker_now(d->conn.worker);
	if (!out->owes_data) // else since its command arrived
		out->owed_ns = out->progress_ns;
	if (out->base)
		dm_owed_add(&d->owed, t);
	if (d->conn.is_closed) {
		out->error = -EPIPE;
		out->owes_data = false;
		tt->r2t_count = 0;
		data_done(d, t);
		return;
	}
	progress(d, t);
}

void dm_tcp_put_data(struct dm *dm, struct dm_task *t, struct dm_result *r)
{
	struct dm_out *out = dm_out(t);
	struct dm_tcp *d = dm_tcp(dm);
	if (!r) {
		t->is_finished = false;
		send_result(d, t, NULL);
		return;
	}
	if (out->owes_data && !d->conn.is_closed) {
		pdu_conn_discard(&d->conn, t);
		t->is_finished = true;
		out->result = r;
		return;
	}
	send_result(d, t, r);
}

static bool is_owed(const struct dm_task *t)
{
	const struct dm_out *out = dm_out(t);
	const struct dm_tcp_task *tt = dm_tcp_task(t);
	return out->owes_data || tt->r2t_count;
}

uint64_t dm_tcp_oldest_owed(struct dm *dm)
{
	struct dm_tcp *d = dm_tcp(dm);
	uint64_t oldest = 0;
	for (unsigned i = 0; i < DM_BUCKETS; i++)
		for (struct dm_task *t = d->owed.bucket[i]; t; t = dm_out(t)->hash_next)
			if (is_owed(t) && (!oldest || dm_out(t)->progress_ns < oldest))
				oldest = dm_out(t)->progress_ns;
	return oldest;
}

uint64_t dm_tcp_owed_since(const struct dm_tcp *d)
{
	uint64_t since = 0;
	for (unsigned i = 0; i < DM_BUCKETS; i++)
		for (const struct dm_task *t = d->owed.bucket[i]; t; t = dm_out(t)->hash_next)
			if (is_owed(t) && (!since || dm_out(t)->owed_ns < since))
				since = dm_out(t)->owed_ns;
	return since;
}
