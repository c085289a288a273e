// SPDX-License-Identifier: BSD-2-Clause
// The target's iSER mover: accept, control PDUs, close. RFC 7145 5, 8; the interface is RFC
// 5047's. The connection's worker.
//
// Sends use slots of a registered pool buffer, 16 in 4 KiB, allocated on demand, and freed beyond
// what the command window needs; login and discovery responses may use a buffer of their own.
#include "transport/iser/dm_iser.h"

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

// --- sends ---

static void on_sent(struct rnic_wr *wr, int res);

// -ENOMEM, -ENOBUFS: the pool's memory is not registered with the device.
static int slab_add(struct dm_iser *d)
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
	int r = list_empty(&d->free_tx) ? slab_add(d) : 0;
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
	on_sent(&tx->wr, r);
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

static void on_sent(struct rnic_wr *wr, int res)
{
	struct dm_iser_tx *tx = container_of(wr, struct dm_iser_tx, wr);
	struct dm_iser *d = tx->d;
	struct dm_iser_task *it = tx->task;
	bool wants_sent = tx->flags & DM_WANTS_SENT && !res;
	d->tx_out--;
	rnic_out_ends(&d->transfers);
	tx_put(tx);
	if (it)
		dm_iser_task_unref(it);
	if (wants_sent)
		d->dm.up->sent(&d->dm);
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

void dm_iser_send_held(struct dm_iser *d)
{
	if (d->is_closed)
		return;
	for (struct list *l; (l = list_pop_front(&d->held));) {
		d->held_count--;
		control_post(d, list_entry(l, struct dm_iser_tx, link));
	}
}

// The peer determines how long: it answers the outstanding RDMA Reads or does not.
static void hold(struct dm_iser *d, struct dm_iser_tx *tx)
{
	list_push_back(&d->held, &tx->link);
	if (++d->held_count > d->dm.window + ISER_TX_EXTRA)
		dm_iser_fail(
			d, -ENOBUFS,
			"%u task management responses are waiting for RDMA Reads that the peer "
			"does not answer",
			d->held_count);
}

// The receive buffers of initiators after login. A ping's data is not echoed: they do not expect
// any.
static uint32_t data_limit(const struct dm_iser *d, uint8_t opcode)
{
	if (d->phase != ISCSI_PHASE_FULL_FEATURE)
		return ISER_DATA_MAX;
	return opcode == ISCSI_OP_NOP_IN ? 0 : ISER_FFP_DATA_MAX;
}

static void dm_iser_send(struct dm *dm, const uint8_t *bhs, const void *data, uint32_t len,
			 unsigned flags)
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
	// A command aborted with RDMA in flight ends when that is done: only then may the initiator
	// reuse its memory.
	if (opcode == ISCSI_OP_TMF_RSP && d->draining)
		hold(d, tx);
	else
		control_post(d, tx);
}

void dm_iser_reject(struct dm_iser *d, uint8_t reason, const uint8_t *bad)
{
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_REJECT, ISCSI_F, reason };
	put_be32(((struct iscsi_bhs *)bhs)->itt, ISCSI_TAG_NONE);
	dm_iser_send(&d->dm, bhs, bad, ISCSI_BHS_LEN, DM_ADVANCES);
}

// --- called by the role ---

static void dm_iser_full_feature(struct dm *dm, const struct iscsi_params *params)
{
	struct dm_iser *d = dm_iser(dm);
	uint32_t want = dm->window + ISER_EXTRA_RX;
	d->params = *params;
	d->phase = params->is_discovery ? ISCSI_PHASE_DISCOVERY : ISCSI_PHASE_FULL_FEATURE;
	d->is_hello_due = params->is_hello_required && !params->is_discovery && !d->has_said_hello;
	if (params->is_discovery || want <= d->reserved)
		return;
	int r = rnic_reserve(d->rnic, want - d->reserved);
	if (r < 0) {
		dm_iser_fail(d, r, "out of memory for %u receive buffers", want);
		return;
	}
	d->reserved = want;
}

static void dm_iser_flush(struct dm *dm)
{
	rnic_flush(dm_iser(dm)->qp);
}

static void dm_iser_pause(struct dm *dm, bool is_paused)
{
	// The peer's messages arrive in any case.
}

static void dm_iser_close(struct dm *dm, bool linger, const struct err *why)
{
	struct dm_iser *d = dm_iser(dm);
	if (d->is_closed)
		return;
	if (linger && !d->is_closing)
		d->closing_ns = worker_now(d->worker);
	d->is_closing = true;
	rnic_close(d->qp, linger, why);
}

static void dm_iser_free(struct dm *dm)
{
	struct dm_iser *d = dm_iser(dm);
	if (d->reserved)
		rnic_unreserve(d->rnic, d->reserved);
	rnic_qp_free(d->qp);
	rnic_transfers_done(&d->transfers);
	while (!list_empty(&d->slabs))
		slab_free(d, list_entry(d->slabs.next, struct dm_iser_slab, link));
	free(d);
}

static void dm_iser_counters(struct dm *dm, struct dm_counters *ret)
{
	const struct dm_iser *d = dm_iser(dm);
	*ret = (struct dm_counters){ .pdus_in = d->pdus_in,
				     .pdus_out = d->pdus_out,
				     .bytes_in = d->qp->bytes_in,
				     .bytes_out = d->qp->bytes_out,
				     .copied = d->transfers.copied,
				     .buffers = (uint64_t)d->slab_count * BUF_MIN,
				     .tx_stuck_ns = d->transfers.outgoing ? d->transfers.tx_ns : 0,
				     .tx_since_ns = dm_iser_tx_since(d),
				     .owed_since_ns = dm_iser_owed_since(d),
				     .closing_ns = d->is_closed ? 0 : d->closing_ns,
				     .last_rx_ns = d->qp->last_rx_ns };
}

static bool count_rights(const struct rnic_mr *mr, void *arg)
{
	*(unsigned *)arg += mr->access != 0;
	return true;
}

unsigned dm_iser_remote_rights(const struct dm *dm)
{
	unsigned ret = 0;
	rnic_each_mr(((const struct dm_iser *)(const void *)dm)->rnic, count_rights, &ret);
	return ret;
}

static const struct dm_ops dm_iser_ops = {
	.send = dm_iser_send,
	.get_data = dm_iser_get_data,
	.put_data = dm_iser_put_data,
	.full_feature = dm_iser_full_feature,
	.flush = dm_iser_flush,
	.pause = dm_iser_pause,
	.close = dm_iser_close,
	.free = dm_iser_free,
	.oldest_owed = dm_iser_oldest_owed,
	.counters = dm_iser_counters,
};

// --- called by the queue pair ---

static void on_established(struct rnic_qp *qp, const uint8_t *private_data, uint32_t len)
{
	struct dm_iser *d = qp->owner;
	if (!qp->last_rx_ns)
		qp->last_rx_ns = worker_now(d->worker);
}

static void on_received(struct rnic_qp *qp, struct rnic_rx *rx)
{
	dm_iser_received(qp->owner, rx);
}

static void on_rejected(struct rnic_qp *qp, const uint8_t *private_data, uint32_t len)
{
	// Only the connecting side is rejected.
}

static void on_closed(struct rnic_qp *qp, const struct err *e)
{
	struct dm_iser *d = qp->owner;
	d->is_closed = true;
	for (struct list *l; (l = list_pop_front(&d->held));)
		tx_put(list_entry(l, struct dm_iser_tx, link));
	dm_iser_drop_starved(d);
	d->dm.up->closed(&d->dm, e);
}

static const struct rnic_qp_ops qp_ops = {
	.established = on_established,
	.received = on_received,
	.rejected = on_rejected,
	.closed = on_closed,
};

// --- start ---

static void dm_init(struct dm_iser *d, const struct rnic_request *q, const struct dm_up *up,
		    void *role)
{
	d->dm.ops = &dm_iser_ops;
	d->dm.up = up;
	d->dm.role = role;
	d->dm.transport = "iSER";
	d->dm.carrier = q->carrier;
	d->dm.is_rdma = true;
	d->dm.task_size = sizeof(struct dm_iser_task);
	d->dm.local_addr = q->local_addr;
	d->dm.peer_addr = q->peer_addr;
	tcp_addr_format(&q->local_addr, d->dm.local);
	tcp_addr_format(&q->peer_addr, d->dm.peer);
	d->rnic = q->rnic;
	d->worker = q->rnic->worker;
	d->phase = ISCSI_PHASE_LOGIN;
	iscsi_params_init(&d->params);
	// Linux announces that it accepts invalidations. Others, such as libiscsi, have one receive
	// buffer until the first response to a command, and over iWARP, which does not retransmit,
	// a second message would break the connection: they start with one command.
	bool wants_inval = iser_cm_can_invalidate(q->private_data, q->private_len);
	d->can_invalidate = wants_inval && q->rnic->limits.can_invalidate;
	if (!wants_inval && !strcmp(q->carrier, "iWARP"))
		d->dm.first_window = 1;
	// libiscsi up to 1.19 counts immediate data in DataSegmentLength but leaves it in the
	// advertised memory: so it is not offered any.
	d->dm.has_no_immediate = !wants_inval;
	rnic_transfers_init(&d->transfers, q->rnic);
	struct list *lists[] = { &d->tasks, &d->slabs, &d->free_tx, &d->held, &d->starved };
	for (unsigned i = 0; i < sizeof lists / sizeof lists[0]; i++)
		list_init(lists[i]);
}

static int accept_request(struct dm_iser *d, struct rnic_request *q,
			  const struct rnic_qp_options *wanted, struct err *e)
{
	uint8_t answer[ISER_CM_LEN];
	const struct rnic_limits *l = &q->rnic->limits;
	struct rnic_qp_options o = { .private_data = answer,
				     .private_len = sizeof answer,
				     .tos = wanted ? wanted->tos : 0,
				     .pkey = wanted ? wanted->pkey : 0 };
	iser_cm_put(answer, d->can_invalidate);
	o.reads_out = l->max_reads_out < RNIC_READS_MAX ? l->max_reads_out : RNIC_READS_MAX;
	o.reads_in = q->reads_in; // none arrives, but some peers refuse fewer than they request
	int r = rnic_accept(q, &d->qp, &o, &qp_ops, d, e);
	d->transfers.qp = d->qp;
	return r;
}

int dm_iser_new(struct dm **ret, struct rnic_request *q, const struct rnic_qp_options *wanted,
		const struct dm_up *up, void *role, struct err *e)
{
	struct rnic *rnic = q->rnic;
	if (!q->reads_out) {
		rnic_reject(q, NULL, 0);
		return err_set(e, -EPROTO,
			       "iSER: the initiator does not allow RDMA Reads (IRD 0), which "
			       "writes require");
	}
	struct dm_iser *d = calloc(1, sizeof *d);
	int r = -ENOMEM;
	if (d) {
		dm_init(d, q, up, role);
		r = slab_add(d);
	}
	if (!r)
		r = rnic_reserve(rnic, ISER_LOGIN_RX);
	if (r < 0) {
		rnic_reject(q, NULL, 0);
		err_set(e, r, "out of memory for a connection, or no registered memory");
	} else {
		d->reserved = ISER_LOGIN_RX;
		r = accept_request(d, q, wanted, e);
	}
	if (!r) {
		*ret = &d->dm;
		return 0;
	}
	if (d) {
		d->qp = NULL;
		dm_iser_free(&d->dm);
	}
	return r;
}
