// SPDX-License-Identifier: BSD-2-Clause
// The initiator's iSER mover, receiving side, on the worker that owns the connection: SCSI
// Responses, invalidated STags, control PDUs. RFC 7145 7.3, 9.2, RFC 7143 11.4.
//
// Everything from the target is checked: lengths must add up, a tag must be that of a command in
// flight, an invalidated STag must be that command's and allowed to be invalidated; Data-In and R2T
// do not exist. Anything else closes the connection.
#include <errno.h>
#include <string.h>

#include "transport/iscsi/dmi_answer.h"
#include "transport/iser/dmi_iser_priv.h"
#include "transport/wire/be.h"

// --- status ---

// How much data was moved. With a status other than GOOD nothing, unless the residual says
// otherwise. At most what the target has written or requested, if the device counts that.
static uint32_t moved(const struct rnic_slot *s)
{
	const struct dmi_task *t = s->task;
	bool is_told = t->residual_flags & (ISCSI_RSP_UNDERFLOW | ISCSI_RSP_OVERFLOW);
	if (t->status && !is_told)
		return 0;
	return s->exposure.count ? rnic_exposure_moved(&s->exposure) : t->len;
}

static int take_response(struct rnic_slot *s, const struct iser_msg *m, struct err *e)
{
	const struct iscsi_scsi_rsp *h = (const void *)m->bhs;
	struct dmi_task *t = s->task;
	t->response = h->response;
	t->status = h->status;
	t->residual_flags = h->flags;
	int r = dmi_take_residual(t, h->flags, get_be32(h->residual), moved(s), e);
	if (!r)
		r = dmi_take_sense(t, m->data, m->pdu.data_len, e);
	if (!r)
		dmi_iser_finish(s, 0);
	return r;
}

// The peer has invalidated an STag, permitted once, with the response to its command.
static int take_invalidation(struct dmi_iser *d, const struct rnic_slot *s,
			     const struct rnic_rx *rx, struct err *e)
{
	if (!rx->is_invalidated)
		return 0;
	if (!d->is_invalidating || !s || !s->exposure.count ||
	    s->exposure.keys[0].rkey != rx->invalidated_rkey)
		return err_set(e, -EPROTO, "STag 0x%08x invalidated, which is not the command's",
			       rx->invalidated_rkey);
	return 0;
}

static int scsi_response(struct dmi_iser *d, const struct iser_msg *m, const struct rnic_rx *rx,
			 struct err *e)
{
	uint32_t itt = get_be32(((const struct iscsi_bhs *)m->bhs)->itt);
	struct rnic_slot *s = dmi_iser_find(d, itt);
	if (!s)
		return err_set(e, -EPROTO, "SCSI Response: no command in flight with tag 0x%08x",
			       itt);
	int r = take_invalidation(d, s, rx, e);
	return r ? r : take_response(s, m, e);
}

// --- PDUs ---

static int control(struct dmi_iser *d, const struct iser_msg *m, const struct rnic_rx *rx,
		   struct err *e)
{
	int r = take_invalidation(d, NULL, rx, e);
	if (r)
		return r;
	// The message is shorter than the buffer, so a NUL after the data fits; the role expects
	// it.
	if (m->data)
		rx->data[m->data - rx->data + m->pdu.data_len] = 0;
	return d->dm.up->control(&d->dm, &m->pdu, m->bhs, m->data, e);
}

static int message(struct dmi_iser *d, const struct rnic_rx *rx, struct err *e)
{
	struct iser_msg m;
	int r = iser_msg_parse(&m, rx->data, rx->len, e);
	if (r)
		return r;
	if (m.opcode != ISER_CONTROL)
		return err_set(e, -EPROTO, "unexpected iSER Hello%s",
			       m.opcode == ISER_HELLO ? "" : "Reply");
	r = iscsi_pdu_check(ISCSI_ROLE_INITIATOR, d->phase, m.bhs, d->params.max_recv_data, &m.pdu,
			    e);
	if (r)
		return r;
	if (m.pdu.opcode == ISCSI_OP_DATA_IN || m.pdu.opcode == ISCSI_OP_R2T)
		return err_set(e, -EPROTO, "unexpected %s over iSER",
			       iscsi_opcode_name(m.pdu.opcode));
	if (d->phase != ISCSI_PHASE_LOGIN && dmi_take_numbers(&d->dm.sns, &m.pdu, m.bhs))
		d->has_window_moved = true;
	return m.pdu.opcode == ISCSI_OP_SCSI_RSP ? scsi_response(d, &m, rx, e)
						 : control(d, &m, rx, e);
}

void dmi_iser_received(struct rnic_qp *qp, struct rnic_rx *rx)
{
	struct dmi_iser *d = qp->owner;
	struct err e;
	int r = d->slots.is_closing ? 0 : message(d, rx, &e);
	rnic_rx_put(rx);
	// A violation closes the connection at once, without sending what is queued.
	if (r < 0) {
		rnic_slots_close(&d->slots, &e);
	} else if (d->has_window_moved && !d->slots.is_closing) {
		d->has_window_moved = false;
		d->dm.up->window(&d->dm);
	}
}
