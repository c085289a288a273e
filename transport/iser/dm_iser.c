// SPDX-License-Identifier: BSD-2-Clause
// The target's iSER mover: accept, full feature phase, close. RFC 7145 5; the interface is RFC
// 5047's. The connection's worker.
#include "transport/iser/dm_iser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/iser/dm_iser_priv.h"

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
	rnic_sends_done(&d->sends);
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
				     .buffers = (uint64_t)d->sends.slab_count * BUF_MIN,
				     .tx_stuck_ns = rnic_out_stuck_ns(&d->transfers),
				     .tx_since_ns = dm_iser_tx_since(d),
				     .owed_since_ns = dm_iser_owed_since(d),
				     .closing_ns = d->is_closed ? 0 : d->closing_ns,
				     .last_rx_ns = d->qp->last_rx_ns };
}

unsigned dm_iser_remote_rights(const struct dm *dm)
{
	return rnic_remote_rights(((const struct dm_iser *)(const void *)dm)->rnic);
}

static const struct dm_ops dm_iser_ops = {
	.send = dm_iser_send,
	.get_data = dm_iser_get_data,
	.put_part = dm_iser_put_part,
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
	dm_iser_drop_held(d);
	dm_iser_drop_waits(d);
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
	rnic_sends_init(&d->sends, &d->transfers, ISER_SLOT);
	rnic_drain_init(&d->drain);
	list_init(&d->tasks);
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
		r = rnic_sends_add(&d->sends);
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
