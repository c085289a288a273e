// SPDX-License-Identifier: BSD-2-Clause
// The initiator's iSER mover: the life of a connection, on the worker that owns it, from connect
// to close. Login PDUs are messages of the same connection. RFC 7145 5.1, 10; private data and
// receive buffer sizes are those of Linux.
#include "transport/iser/dmi_iser.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/iser/dmi_iser_priv.h"

_Static_assert(RNIC_RX_SIZE > DMI_ISER_HDR_LEN + ISER_DATA_MAX, "a buffer holds a PDU and a NUL");

// --- called by the role ---

static void dmi_iser_full_feature(struct dmi *dm, const struct iscsi_params *params)
{
	struct dmi_iser *d = dmi_iser(dm);
	d->params = *params;
	if (d->params.max_recv_data > ISER_DATA_MAX)
		d->params.max_recv_data = ISER_DATA_MAX;
	d->phase = params->is_discovery ? ISCSI_PHASE_DISCOVERY : ISCSI_PHASE_FULL_FEATURE;
}

static void dmi_iser_flush(struct dmi *dm)
{
	rnic_flush(dmi_iser(dm)->qp);
}

static void dmi_iser_close(struct dmi *dm, const struct err *why)
{
	rnic_slots_close(&dmi_iser(dm)->slots, why);
}

static void free_run(struct msg *m)
{
	struct dmi_iser *d = container_of(m, struct dmi_iser, free_msg);
	rnic_qp_free(d->qp);
	rnic_slots_free(&d->slots);
	free(d);
}

// In a later round: the connection may be in the middle of a receive.
static void dmi_iser_free(struct dmi *dm)
{
	struct dmi_iser *d = dmi_iser(dm);
	d->free_msg.fn = free_run;
	worker_post(d->worker, &d->free_msg);
}

static uint64_t dmi_iser_last_rx(struct dmi *dm)
{
	return dmi_iser(dm)->qp->last_rx_ns;
}

static const struct dmi_ops dmi_iser_ops = {
	.command = dmi_iser_command,
	.send = dmi_iser_send,
	.drop = dmi_iser_drop,
	.full_feature = dmi_iser_full_feature,
	.flush = dmi_iser_flush,
	.close = dmi_iser_close,
	.free = dmi_iser_free,
	.last_rx = dmi_iser_last_rx,
};

// --- called by the queue pair ---

// The target sends nothing before the first Login Request: receive buffers for login and full
// feature phase are early enough here.
static int open(struct dmi_iser *d, struct err *e)
{
	int r = rnic_reserve(d->qp->rnic, DMI_ISER_RX);
	if (r < 0)
		return err_errno(e, r, "receive buffers");
	d->is_reserved = true;
	return rnic_slots_open(&d->slots, e);
}

static void on_established(struct rnic_qp *qp, const uint8_t *private_data, uint32_t len)
{
	struct dmi_iser *d = qp->owner;
	struct err e;
	d->is_established = true;
	tcp_addr_format(&qp->peer_addr, d->dm.peer);
	tcp_addr_format(&qp->local_addr, d->dm.local);
	snprintf(d->transport, sizeof d->transport, "iSER (%.20s)", qp->rnic->name);
	if (d->slots.is_closing)
		return;
	if (open(d, &e) < 0)
		rnic_slots_close(&d->slots, &e);
	else
		d->connected(&d->dm);
}

// closed follows with the text.
static void on_rejected(struct rnic_qp *qp, const uint8_t *private_data, uint32_t len)
{
}

static void on_closed(struct rnic_qp *qp, const struct err *why)
{
	struct dmi_iser *d = qp->owner;
	struct err e = *why;
	bool was_asked = d->slots.is_closing;
	if (!d->is_established && !was_asked)
		rnic_connect_failed(&e, "iSER", why);
	if (d->is_reserved)
		rnic_unreserve(qp->rnic, DMI_ISER_RX);
	rnic_slots_closed(&d->slots);
	d->dm.up->closed(&d->dm, &e);
}

static const struct rnic_qp_ops qp_ops = {
	.established = on_established,
	.received = dmi_iser_received,
	.rejected = on_rejected,
	.closed = on_closed,
};

// --- new ---

int dmi_iser_connect(struct dmi **ret, struct worker *w, const struct dmi_iser_options *o,
		     const struct dmi_up *up, void *role, struct err *e)
{
	struct dmi_iser *d = calloc(1, sizeof *d);
	uint8_t private_data[ISER_CM_LEN];
	if (!d)
		return err_set(e, -ENOMEM, "out of memory for a connection");
	d->dm = (struct dmi){ .ops = &dmi_iser_ops,
			      .up = up,
			      .role = role,
			      .transport = d->transport,
			      .tasks_max = DMI_ISER_TASKS_MAX };
	d->worker = w;
	d->connected = o->connected;
	d->is_invalidating = o->provider->takes_invalidation;
	d->phase = ISCSI_PHASE_LOGIN;
	iscsi_params_init(&d->params);
	tcp_addr_format(&o->peer, d->dm.peer);
	snprintf(d->transport, sizeof d->transport, "iSER");
	iser_cm_put(private_data, d->is_invalidating);
	const struct rnic_qp_options qo = { .send_depth = DMI_ISER_SLOTS,
					    .reads_out = 1, // unused; some peers refuse 0
					    .reads_in = RNIC_READS_MAX,
					    .private_data = private_data,
					    .private_len = sizeof private_data,
					    .timeout_usec = o->timeout_usec,
					    .wants_crc = o->wants_crc };
	int r = rnic_connect(o->provider, &d->qp, w, &o->peer, NULL, &qo, &qp_ops, d, e);
	if (r < 0) {
		free(d);
		return r;
	}
	dmi_iser_tx_init(d);
	*ret = &d->dm;
	return 0;
}
